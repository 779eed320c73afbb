#pragma once
#include <optional>

#include "mpc/cost.h"
#include "mpc/fixed_point.h"
#include "protocols/comparison/leading_bit.h"
#include "protocols/functions/exponential.h"

namespace trefoil::protocols {

struct SoftmaxOptions {
  mpc::Index classes = 2;  ///< columns: 2 to 1024
  int frac_bits = 16;      ///< of logits and probabilities: 8 to 24
  std::optional<double>
      logit_bound{};  ///< logits are clamped to +- that; without one, any logits, by a maximum
  int width = 64;     ///< |logit| < 2^(width - 3) as ring elements; at least frac_bits + 8
  Form form = Form::kBulk;
};

/// The public constants of a softmax, and what can be said of its results.
struct SoftmaxTable {
  SoftmaxOptions options;
  ExponentialTable exponential;
  LeadingBitTables normalising;  ///< by the leading bit of a row's sum
  int normalising_shift = 0;
  double error = 0;   ///< on |p - softmax|, of the logits clamped where they are bounded
  double excess = 0;  ///< 0 <= p <= 1 + excess
  /// On the L2 norm of a row p - y, y a one-hot row or any other of non-negative numbers that add to 1:
  /// sqrt(2) and what rounding adds. Holds, like the excess, for every ring value of the logits that `width`
  /// admits, and whatever the coins.
  double distance = 0;
};

/// Integers only, but for the three bounds, which are rounded up.
/// Throws ContractError on options outside the above, and where e^(2 logit_bound) needs more bits than the
/// ring has: 2.9 logit_bound must stay below 45 - frac_bits, and at most 12.
[[nodiscard]] SoftmaxTable MakeSoftmaxTable(const SoftmaxOptions& options);

/// e^x_k / (e^x_1 + ... + e^x_c) for each row of logits, at their scale.
/// Pre:    |logit| < 2^(width - 3). At width 64 that is true of whatever a truncation by 3 bits or more
/// gives,
///         even where it was called beyond its own range; other logits the caller clamps.
/// Cost:   bulk at most 48 rounds, latency 26, and RowMaximumCost where there is no bound; see SoftmaxCost.
/// Throws: ContractError on another shape or scale, before anything is sent; NetworkError, ProtocolError.
/// Source: docs/reference/protocols.md, "Softmax".
[[nodiscard]] mpc::FixedShare Softmax(mpc::Context& party, const SoftmaxTable& table,
                                      const mpc::FixedShare& logits);
[[nodiscard]] mpc::Cost SoftmaxCost(const SoftmaxTable& table, mpc::Index rows);

}  // namespace trefoil::protocols
