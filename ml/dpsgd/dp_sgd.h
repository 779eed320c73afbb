#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "ml/plan/step_plan.h"
#include "mpc/cost.h"
#include "mpc/fixed_point.h"
#include "mpc/narrow/packed_share.h"
#include "protocols/cost_model.h"

namespace trefoil::ml {

/// A shared batch of B rows, or a block of them. A padding row is zero throughout, mask bit included, so its
/// gradient is zero.
struct Batch {
  /// B x (p + 1), the last column the mask bit: 1 for a record.
  mpc::FixedShare x{};
  /// Where the plan has narrow rows these in place of `x`: modulo 2^row_bits, so that the low row_bits of
  /// products are right and nothing else.
  std::optional<mpc::PackedShare> narrow_x{};
  mpc::FixedShare y;              ///< B x c, 0 or 1
  mpc::ArithShare squared_norms;  ///< B x 1: of x's rows at row_norm_bits, rounded up
  mpc::ArithShare weights{};  ///< B x 1: the records' own, where the plan has such, with its bits; else none
  mpc::ArithShare
      mask_bits{};  ///< B x 1: once more and in words, where the plan has MaskBitsBeside; else none
};

/// x, for what does not work on narrow rows. Throws ContractError where the batch has these.
[[nodiscard]] const mpc::FixedShare& WholeRows(const Batch& batch);

/// The rows' mask bits, B x 1, at the rows' scale; of narrow rows modulo 2^row_bits.
[[nodiscard]] mpc::ArithShare MaskBits(const Batch& batch);

/// What a training carries from one step to the next.
struct TrainingState {
  mpc::FixedShare weights;       ///< W: of ShapeOfWeights
  mpc::FixedShare velocity;      ///< V: what the last step took off the weights, of their shape
  std::int64_t step = 0;         ///< steps that are done
  std::optional<int> clip_at{};  ///< of an adaptive clip: where it is on its grid for the next step; public
};

/// At the beginning: the velocity is zero.
[[nodiscard]] TrainingState StartFrom(mpc::FixedShare weights);

/// E = P - Y, what the model says of each row less its label (Errors); with class weights each row's times
/// the weight of its class, truncated; and with records' own weights times these, truncated.
/// Cost: PredictionErrorsCost: PredictCost, and 2 rounds more for each of both.
[[nodiscard]] mpc::FixedShare PredictionErrors(mpc::Context& party, const StepPlan& plan, const Batch& batch,
                                               const mpc::AdditiveShare& logits);
[[nodiscard]] mpc::Cost PredictionErrorsCost(const StepPlan& plan, mpc::Index batch_rows);

/// The four parts of a linear model's step on factorised norms (docs/reference/protocols.md, "DP-SGD step";
/// PEA, Protocol 3, lines 6 to 17).

/// s_j = ||x_j||^2 ||e_j||^2, exact at row_norm_bits + 2f, as the local product that is opened masked. One
/// round.
[[nodiscard]] mpc::AdditiveShare SquaredGradientNorms(mpc::Context& party, const Batch& batch,
                                                      const mpc::FixedShare& errors);
[[nodiscard]] mpc::Cost SquaredGradientNormsCost(mpc::Index batch_rows);

/// Errors times the clip factors of their rows, truncated to ErrorFractionBits: modulo 2^update_bits, which is
/// all that is opened of their sums.
[[nodiscard]] mpc::FixedShare TimesFactors(mpc::Context& party, const StepPlan& plan,
                                           const mpc::FixedShare& errors, const mpc::ArithShare& factors);
[[nodiscard]] mpc::Cost TimesFactorsCost(const StepPlan& plan, mpc::Index batch_rows);

/// E' = phi E with phi = min(1, C / (||x_j|| ||e_j||)), never above: the factor that clips example j's
/// gradient x_j e_j. With clipping = "examples" the errors are returned as they are.
[[nodiscard]] mpc::FixedShare ClipPerExample(mpc::Context& party, const StepPlan& plan, const Batch& batch,
                                             const mpc::FixedShare& errors);

/// Z = x W, as the local product.
[[nodiscard]] mpc::AdditiveShare BatchLogits(mpc::Context& party, const Batch& batch,
                                             const mpc::FixedShare& weights);

/// G = x^T E' as exact integers, modulo 2^row_bits, on the lattice of gradient_bits: nothing is truncated
/// before the noise. Local.
[[nodiscard]] mpc::AdditiveShare SumGradients(mpc::Context& party, const Batch& batch,
                                              const mpc::FixedShare& clipped);

/// G + noise, each party adding its own samples to its own part (PEA, Protocol 2: a sum of inputs). Local.
[[nodiscard]] mpc::AdditiveShare AddNoise(const mpc::AdditiveShare& sum, const mpc::RingMatrix& own_noise);

/// V <- truncate(momentum * V + eta / b * noisy sum), W <- W - V, fused: one truncation, with momentum or
/// without. Where rows are narrow, both terms are truncated apart, beside each other: no round more; or the
/// sum is lifted first, and both are truncated at once (LiftsUpdate): a round more.
/// Post-processing. Entry by entry, so that `state` and the sum may be some of the entries alone.
/// Cost: ApplyUpdateCost, of so many entries.
[[nodiscard]] TrainingState ApplyUpdate(mpc::Context& party, const StepPlan& plan, const TrainingState& state,
                                        const mpc::AdditiveShare& noisy_sum);
[[nodiscard]] mpc::Cost ApplyUpdateCost(const StepPlan& plan, mpc::Index entries);

/// The sum of the clipped gradients of a batch or of a block of one, of a linear model or a network, of
/// ShapeOfWeights: what AddNoise takes. Those of blocks add up to that of the batch.
/// Cost: GradientCost.
[[nodiscard]] mpc::AdditiveShare Gradient(mpc::Context& party, const StepPlan& plan, const Batch& batch,
                                          const mpc::FixedShare& weights);
[[nodiscard]] mpc::Cost GradientCost(const StepPlan& plan, mpc::Index batch_rows);

/// One step on a batch, of a linear model or a network, on a fixed clip; `own_noise` is of ShapeOfWeights.
/// Cost: DpSgdStepCost, which with an adaptive clip is that of AdaptiveStep.
[[nodiscard]] TrainingState DpSgdStep(mpc::Context& party, const StepPlan& plan, const Batch& batch,
                                      const TrainingState& state, const mpc::RingMatrix& own_noise);
[[nodiscard]] mpc::Cost DpSgdStepCost(const StepPlan& plan, mpc::Index batch_rows);
/// Computation that the comparisons and the sigmoids of a step are expected to take (protocols/cost_model.h):
/// 0 for the comparisons of published clipping, which have one form.
[[nodiscard]] double DpSgdStepSeconds(const StepPlan& plan, mpc::Index batch_rows);

/// The form of comparison that the settings ask for, or else the one that is expected to be faster on the
/// link (docs/reference/performance.md has the model).
[[nodiscard]] protocols::Form FasterForm(const TrainingSettings& settings, mpc::Index batch_rows,
                                         const protocols::Link& link);

/// The plan in the form of comparison that the settings ask for, or else in the one that is expected to be
/// faster on the link (docs/reference/performance.md has the model).
[[nodiscard]] StepPlan FasterPlan(const TrainingSettings& settings, mpc::Index batch_rows,
                                  const protocols::Link& link);

}  // namespace trefoil::ml
