#pragma once
#include <array>
#include <cstdint>

#include "net/transport.h"

namespace trefoil::mpc {

/// What an operation costs: rounds by logical depth, payload bytes sent online, and bytes that do not depend on the data
/// (offline). Declared beside each operation and tested against the measured cost, exactly.
///
/// Operations with roles (A, B and dealer D) rotate them over the parties, one turn a use. A declared cost is for a start
/// with A = P0; `turns` says how many uses an operation makes, so that what follows it is rotated.
struct Cost {
  int rounds = 0;
  std::array<std::uint64_t, net::kParties> bytes_sent{};
  std::array<std::uint64_t, net::kParties> bytes_offline{};
  int turns = 0;

  friend bool operator==(const Cost&, const Cost&) = default;
};

/// Every party sends `bytes` in one round.
[[nodiscard]] Cost EachSends(std::uint64_t bytes);

/// `first`, then `second`, which needs its result: rounds add.
[[nodiscard]] Cost Then(const Cost& first, const Cost& second);

/// `first` and `second` in the same rounds, `second` taking its roles after `first`.
[[nodiscard]] Cost Beside(const Cost& first, const Cost& second);

}  // namespace trefoil::mpc
