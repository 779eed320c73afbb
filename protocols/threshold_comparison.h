#pragma once
#include <cstdint>
#include <vector>

#include "mpc/cost.h"
#include "mpc/share.h"
#include "protocols/masked_opening.h"

namespace trefoil::protocols {

/// The bits [x_j < t_k] as numbers, shared 2-of-2 between A and B of `opening` (empty at the dealer): row k
/// for threshold k, column j for element j. One masked opening and one distributed comparison function key an
/// element serve all thresholds. With dropped > 0 what is compared is not x but y: floor(x / 2^dropped) or
/// one less, the same for all thresholds; of a fresh sharing it is one less with probability
/// 1 - (x mod 2^dropped + 1) / 2^dropped.
///
/// Pre:     |x - t| < 2^(width - 1) for every threshold, with dropped > 0 |y - t|; 2 <= width, dropped >= 0,
///          width + dropped <= 64; `opening` is fresh.
/// Cost:    1 round, width bits an element from A and from B; offline 3 (width - 1) + 1 words an element to
///          each of A and B, and one more to B.
/// Throws:  ContractError if width or dropped is out of range (before anything is sent).
/// Secrecy: as of a truncation (truncate.h): the threshold of y's coin is known, its outcome to nobody.
/// Source:  docs/protocols.md, "Many thresholds from one key".
[[nodiscard]] mpc::RingMatrix BelowThresholdsPair(mpc::Context& party, MaskedOpening& opening,
                                                  const mpc::ArithShare& x,
                                                  const std::vector<std::int64_t>& thresholds, int width,
                                                  int dropped = 0);
/// Of the bits that are dropped it does not depend.
[[nodiscard]] mpc::Cost BelowThresholdsPairCost(mpc::Index count, int width);

/// The same, re-shared to all three: thresholds.size() rows, one column an element (row by row).
/// Cost: 2 rounds; a word from A and from B for each bit beside the above.
[[nodiscard]] mpc::ArithShare BelowThresholds(mpc::Context& party, const mpc::ArithShare& x,
                                              const std::vector<std::int64_t>& thresholds, int width = 64);
[[nodiscard]] mpc::Cost BelowThresholdsCost(mpc::Index count, std::size_t thresholds, int width = 64);

}  // namespace trefoil::protocols
