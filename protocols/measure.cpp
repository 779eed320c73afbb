#include "protocols/measure.h"

#include <chrono>

#include "protocols/arithmetic/agreement.h"

namespace trefoil::protocols {
Measured Measure(mpc::Context& party, const std::function<void()>& operation) {
  Barrier(party);
  party.RestartRoles();
  party.transport().ResetCounters();
  const double offline_before = party.offline_seconds();
  const auto start = std::chrono::steady_clock::now();
  operation();
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  const net::Counters& counters = party.transport().counters();
  return {.rounds = static_cast<int>(counters.rounds),
          .bytes_sent = counters.bytes_sent,
          .bytes_offline = counters.bytes_offline,
          .seconds = seconds.count(),
          .seconds_offline = party.offline_seconds() - offline_before};
}

}  // namespace trefoil::protocols
