#pragma once
#include <functional>

#include "mpc/context.h"

namespace trefoil::protocols {

/// What one run of an operation cost this party, and rounds as this party saw them.
struct Measured {
  int rounds = 0;
  std::uint64_t bytes_sent = 0;
  std::uint64_t bytes_offline = 0;
  double seconds = 0;          ///< all of it; what dealers do is done in line
  double seconds_offline = 0;  ///< of these, what this party spent as a dealer on data-independent work
};

/// Brings the parties to the same place with roles and counters restarted, runs `operation`, and returns its
/// cost here. All parties call it with the same operation. The barrier's own messages are not counted.
[[nodiscard]] Measured Measure(mpc::Context& party, const std::function<void()>& operation);

}  // namespace trefoil::protocols
