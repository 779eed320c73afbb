#pragma once
#include <cstdint>
#include <vector>

#include "mpc/cost.h"
#include "mpc/share.h"
#include "protocols/arithmetic/masked_opening.h"

namespace trefoil::protocols {

/// How many low bits a comparison leaves out, at the price of a coin.
struct Blur {
  /// Low bits of a 3-of-3 sharing that each party drops of its part before anything is opened. Then not x is
  /// compared but y, which is floor(x / 2^dropped), or one or two less, the same y with all thresholds. For a
  /// fresh sharing the parts' low bits are uniform but for their sum.
  int dropped = 0;
  /// For each threshold t how many low bits u of the difference are not read; empty: all are read. A number
  /// from t - 2^u + 1 to t - 1 then passes for one that is not below t with probability 1 - (t - x) / 2^u;
  /// every other number is compared as with u = 0.
  std::vector<int> unread{};
};

/// The bits [x_j < t_k] as numbers, shared 2-of-2 between A and B of `opening` (empty at the dealer): row k
/// for threshold k, column j for element j. One masked opening and one distributed comparison function key an
/// element serve all thresholds.
///
/// Pre:     |x - t| < 2^(width - 1) for every threshold (|y - t| with dropped > 0); with u bits unread also
///          x - t < 2^(width - 1) - 2^u; 2 <= width, dropped >= 0, width + dropped <= 64; 0 <= u < width - 1;
///          `opening` is fresh.
/// Cost:    1 round, width bits an element from A and from B, and of a 3-of-3 sharing from the dealer to
///          both; offline 3 (width - 1) + 1 words an element to each of A and B (less 3 for every bit that no
///          threshold reads, and one more for every further number of unread bits), and one more to B.
/// Throws:  ContractError if a number is out of range, or bits are to be dropped of a replicated sharing
///          (before anything is sent).
/// Secrecy: as of a truncation (truncate.h): a coin's threshold is known to A and B, its outcome to nobody.
/// Source:  docs/reference/protocols.md, "Many thresholds from one key".
[[nodiscard]] mpc::RingMatrix BelowThresholdsPair(mpc::Context& party, MaskedOpening& opening,
                                                  const mpc::ArithShare& x,
                                                  const std::vector<std::int64_t>& thresholds, int width,
                                                  const Blur& blur = {});
[[nodiscard]] mpc::Cost BelowThresholdsPairCost(mpc::Index count, int width, const Blur& blur = {});
/// The same of a 3-of-3 sharing, as a local product is one. Its cost does not depend on how many bits are
/// dropped.
[[nodiscard]] mpc::RingMatrix BelowThresholdsPair(mpc::Context& party, MaskedOpening& opening,
                                                  const mpc::AdditiveShare& x,
                                                  const std::vector<std::int64_t>& thresholds, int width,
                                                  const Blur& blur = {});
[[nodiscard]] mpc::Cost BelowThresholdsPairOfSumCost(mpc::Index count, int width, const Blur& blur = {});

/// The same, re-shared to all three: thresholds.size() rows, one column an element (row by row).
/// Cost: 2 rounds; a word from A and from B for each bit beside the above.
[[nodiscard]] mpc::ArithShare BelowThresholds(mpc::Context& party, const mpc::ArithShare& x,
                                              const std::vector<std::int64_t>& thresholds, int width = 64);
[[nodiscard]] mpc::Cost BelowThresholdsCost(mpc::Index count, std::size_t thresholds, int width = 64);

}  // namespace trefoil::protocols
