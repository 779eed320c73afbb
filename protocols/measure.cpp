#include "protocols/measure.h"

#include <algorithm>
#include <chrono>

namespace trefoil::protocols {
namespace {

/// Nobody passes before everybody has arrived.
void Barrier(mpc::Context& party) {
  net::Transport& transport = party.transport();
  transport.Send(party.next(), {});
  transport.Send(party.previous(), {});
  (void)transport.Receive(party.next(), 0);
  (void)transport.Receive(party.previous(), 0);
}

}  // namespace

Measured Measure(mpc::Context& party, const std::function<void()>& operation) {
  Barrier(party);
  party.RestartRoles();
  party.transport().ResetCounters();
  const auto start = std::chrono::steady_clock::now();
  operation();
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  const net::Counters& counters = party.transport().counters();
  return {.rounds = static_cast<int>(counters.rounds),
          .bytes_sent = counters.bytes_sent,
          .bytes_offline = counters.bytes_offline,
          .seconds = seconds.count()};
}

mpc::Cost ToCost(const std::array<Measured, 3>& measured, int declared_turns) {
  mpc::Cost cost;
  cost.turns = declared_turns;
  for (std::size_t party = 0; party < measured.size(); ++party) {
    cost.rounds = std::max(cost.rounds, measured[party].rounds);
    cost.bytes_sent[party] = measured[party].bytes_sent;
    cost.bytes_offline[party] = measured[party].bytes_offline;
  }
  return cost;
}

}  // namespace trefoil::protocols
