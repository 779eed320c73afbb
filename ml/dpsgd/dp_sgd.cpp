#include "ml/dpsgd/dp_sgd.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "base/error.h"
#include "ml/dpsgd/adaptive_clip.h"
#include "ml/dpsgd/hidden_layers.h"
#include "ml/dpsgd/published_clipping.h"
#include "mpc/parallel.h"
#include "protocols/arithmetic/multiply.h"
#include "protocols/arithmetic/truncate.h"

namespace trefoil::ml {
namespace {

using mpc::ArithShare;
using mpc::FixedShare;
using mpc::Index;
using mpc::RingMatrix;

/// The weight of each row's class times 2^f, which is what labels have. A padding row's label, 0, is that of
/// the first of two classes, and of none of more; whatever its weight, the row itself is zero.
ArithShare WeightsOfRows(const mpc::Context& party, const StepPlan& plan, const Batch& batch) {
  const std::vector<mpc::Word>& weights = plan.class_weights.of_class;
  const ArithShare& labels = batch.y.ring();
  if (plan.columns == 1)
    return AddPublic(party, (weights[1] - weights[0]) * labels, weights[0] << batch.y.frac_bits());
  ArithShare sum = weights[0] * Columns(labels, 0, 1);
  for (std::size_t k = 1; k < weights.size(); ++k)
    sum = sum + weights[k] * Columns(labels, static_cast<Index>(k), 1);
  return sum;
}

/// The mantissas of `step` and of the steps after it, on a fixed clip.
std::function<mpc::Word(std::int64_t)> MantissasFrom(const StepPlan& plan, std::int64_t step) {
  return [schedule = plan.settings.schedule, peak = plan.step_size.mantissa, steps = plan.settings.steps,
          step](std::int64_t later) { return ScheduledMantissa(schedule, peak, step + later, steps); };
}

/// The velocity after a step: what the momentum keeps of the one before, and the rate's share of the noisy
/// sum.
ArithShare NextVelocity(mpc::Context& party, const StepPlan& plan, const TrainingState& state,
                        const mpc::AdditiveShare& noisy_sum) {
  const protocols::Rounding rounding = plan.settings.truncation;
  const ArithShare& velocity = state.velocity.ring();
  const mpc::Word mantissa = MantissaAt(plan, state.step, state.clip_at.value_or(0));
  if (!HasNarrowRows(plan)) {
    const mpc::AdditiveShare kept = plan.momentum_factor * ToAdditive(velocity);
    return protocols::Truncate(party, mantissa * noisy_sum + kept, plan.update_shift,
                               protocols::Range::kSigned, rounding);
  }
  if (LiftsUpdate(plan))
    return protocols::TruncateLifted(party, noisy_sum, plan.update_bits, mantissa,
                                     plan.momentum_factor * velocity, plan.update_shift, rounding);
  // The sum is known modulo 2^k alone, so that nothing can be added to it before it is opened.
  const protocols::NarrowFactor factor{
      .width = plan.update_bits, .factor = mantissa, .later = MantissasFrom(plan, state.step)};
  const auto of_sum = [&](mpc::Context& branch) {
    return protocols::TruncateNarrow(branch, noisy_sum, plan.update_shift, factor, rounding);
  };
  if (plan.momentum_factor == 0) return of_sum(party);
  const auto of_velocity = [&](mpc::Context& branch) {
    return protocols::Truncate(branch, plan.momentum_factor * velocity, plan.update_shift,
                               protocols::Range::kSigned, rounding);
  };
  const auto [added, kept] = mpc::Parallel(party, of_sum, of_velocity);
  return added + kept;
}

/// From the scale of factors times errors to that of clipped errors.
int ClippingShift(const StepPlan& plan) {
  return protocols::kClipFactorBits + plan.settings.fraction_bits - ErrorFractionBits(plan.settings);
}

int WeightShift(const StepPlan& plan) { return plan.class_weights.frac_bits + plan.settings.fraction_bits; }

/// Each row's errors times its weight, which has `shift` bits.
FixedShare Weighted(mpc::Context& party, const StepPlan& plan, const FixedShare& errors,
                    const ArithShare& weights, int shift) {
  return {protocols::MultiplyTruncate(party, RepeatedColumn(weights, errors.cols()), errors.ring(), shift,
                                      protocols::Range::kSigned, plan.settings.truncation),
          errors.frac_bits()};
}

}  // namespace

const FixedShare& WholeRows(const Batch& batch) {
  Require(!batch.narrow_x, "WholeRows: rows in words");
  return batch.x;
}

ArithShare MaskBits(const Batch& batch) {
  if (batch.narrow_x) return WidenedColumn(*batch.narrow_x, batch.narrow_x->cols() - 1);
  return Columns(batch.x.ring(), batch.x.cols() - 1, 1);
}

FixedShare PredictionErrors(mpc::Context& party, const StepPlan& plan, const Batch& batch,
                            const mpc::AdditiveShare& logits) {
  FixedShare errors = Errors(party, plan.activation, logits, batch.y);
  if (!plan.class_weights.of_class.empty())
    errors = Weighted(party, plan, errors, WeightsOfRows(party, plan, batch), WeightShift(plan));
  if (plan.record_weights.largest == 0) return errors;
  return Weighted(party, plan, errors, batch.weights, plan.record_weights.frac_bits);
}

mpc::Cost PredictionErrorsCost(const StepPlan& plan, Index batch_rows) {
  const auto weighting = [&](int shift) {
    return protocols::TruncateProductCost(batch_rows * plan.columns, shift, plan.settings.truncation);
  };
  mpc::Cost cost = PredictCost(plan.activation, batch_rows);
  if (!plan.class_weights.of_class.empty()) cost = Then(cost, weighting(WeightShift(plan)));
  if (plan.record_weights.largest > 0) cost = Then(cost, weighting(plan.record_weights.frac_bits));
  return cost;
}

mpc::AdditiveShare SquaredGradientNorms(mpc::Context& party, const Batch& batch, const FixedShare& errors) {
  const ArithShare of_errors =
      protocols::Reshare(party, protocols::LocalRowInnerProducts(party, errors.ring(), errors.ring()));
  return protocols::LocalProduct(party, batch.squared_norms, of_errors);
}

mpc::Cost SquaredGradientNormsCost(Index batch_rows) { return protocols::ReshareCost(batch_rows); }

FixedShare TimesFactors(mpc::Context& party, const StepPlan& plan, const FixedShare& errors,
                        const ArithShare& factors) {
  const mpc::AdditiveShare product =
      protocols::LocalProduct(party, RepeatedColumn(factors, errors.cols()), errors.ring());
  return {protocols::TruncateNarrow(party, product, ClippingShift(plan), {.of_result = plan.update_bits},
                                    plan.settings.truncation),
          ErrorFractionBits(plan.settings)};
}

mpc::Cost TimesFactorsCost(const StepPlan& plan, Index batch_rows) {
  return protocols::TruncateNarrowCost(batch_rows * plan.columns, ClippingShift(plan),
                                       plan.settings.truncation, 64, plan.update_bits);
}

FixedShare ClipPerExample(mpc::Context& party, const StepPlan& plan, const Batch& batch,
                          const FixedShare& errors) {
  if (plan.settings.clipping == Clipping::kExamples) return errors;
  return TimesFactors(party, plan, errors,
                      protocols::ClipFactor(party, plan.clip, SquaredGradientNorms(party, batch, errors)));
}

mpc::AdditiveShare BatchLogits(mpc::Context& party, const Batch& batch, const FixedShare& weights) {
  if (batch.narrow_x) return protocols::LocalMatrixProduct(party, *batch.narrow_x, weights.ring());
  return protocols::LocalMatrixProduct(party, batch.x.ring(), weights.ring());
}

mpc::AdditiveShare SumGradients(mpc::Context& party, const Batch& batch, const FixedShare& clipped) {
  if (batch.narrow_x) return protocols::LocalTransposedProduct(party, *batch.narrow_x, clipped.ring());
  return protocols::LocalTransposedProduct(party, batch.x.ring(), clipped.ring());
}

mpc::AdditiveShare AddNoise(const mpc::AdditiveShare& sum, const RingMatrix& own_noise) {
  return mpc::AdditiveShare(sum.part() + own_noise);  // leaves no copy of the noise alone
}

TrainingState StartFrom(FixedShare weights) {
  FixedShare velocity(ArithShare::Zero(weights.rows(), weights.cols()), weights.frac_bits());
  return {.weights = std::move(weights), .velocity = std::move(velocity)};
}

TrainingState ApplyUpdate(mpc::Context& party, const StepPlan& plan, const TrainingState& state,
                          const mpc::AdditiveShare& noisy_sum) {
  const FixedShare velocity(NextVelocity(party, plan, state, noisy_sum), state.weights.frac_bits());
  return {.weights = state.weights - velocity,
          .velocity = velocity,
          .step = state.step + 1,
          .clip_at = state.clip_at};
}

mpc::Cost ApplyUpdateCost(const StepPlan& plan, Index entries) {
  const protocols::Rounding rounding = plan.settings.truncation;
  if (LiftsUpdate(plan))
    return protocols::TruncateLiftedCost(entries, plan.update_shift, rounding, plan.update_bits);
  const mpc::Cost of_sum =
      protocols::TruncateNarrowCost(entries, plan.update_shift, rounding, plan.update_bits);
  if (!HasNarrowRows(plan) || plan.momentum_factor == 0) return of_sum;
  return Parallel(of_sum, protocols::TruncateCost(entries, plan.update_shift, rounding));
}

mpc::AdditiveShare Gradient(mpc::Context& party, const StepPlan& plan, const Batch& batch,
                            const FixedShare& weights) {
  if (IsNetwork(plan)) return NetworkGradient(party, plan, batch, weights);
  const FixedShare errors = PredictionErrors(party, plan, batch, BatchLogits(party, batch, weights));
  if (plan.settings.clipping == Clipping::kPublished)
    return ToAdditive(SumPublishedGradients(party, plan, batch, errors));
  return SumGradients(party, batch, ClipPerExample(party, plan, batch, errors));
}

mpc::Cost GradientCost(const StepPlan& plan, Index batch_rows) {
  if (IsNetwork(plan)) return NetworkGradientCost(plan, batch_rows);
  const mpc::Cost errors = PredictionErrorsCost(plan, batch_rows);
  if (plan.settings.clipping == Clipping::kPublished)
    return Then(errors, SumPublishedGradientsCost(plan, batch_rows));
  if (plan.settings.clipping == Clipping::kExamples) return errors;
  return Then(Then(Then(errors, SquaredGradientNormsCost(batch_rows)), ClipFactorCost(plan.clip, batch_rows)),
              TimesFactorsCost(plan, batch_rows));
}

TrainingState DpSgdStep(mpc::Context& party, const StepPlan& plan, const Batch& batch,
                        const TrainingState& state, const RingMatrix& own_noise) {
  return ApplyUpdate(party, plan, state, AddNoise(Gradient(party, plan, batch, state.weights), own_noise));
}

mpc::Cost DpSgdStepCost(const StepPlan& plan, Index batch_rows) {
  if (plan.settings.adaptive) return AdaptiveStepCost(plan, batch_rows);
  return Then(GradientCost(plan, batch_rows), ApplyUpdateCost(plan, ShapeOfWeights(plan).weights()));
}

double DpSgdStepSeconds(const StepPlan& plan, Index batch_rows) {
  const auto& pieces = plan.clip.pieces;
  const double of_factors = protocols::ComparisonSeconds(
      plan.clip.form, batch_rows, static_cast<std::int64_t>(pieces.thresholds.size()), pieces.width);
  return of_factors + PredictSeconds(plan.activation, batch_rows) + HiddenLayersSeconds(plan, batch_rows);
}

protocols::Form FasterForm(const TrainingSettings& settings, Index batch_rows, const protocols::Link& link) {
  using protocols::Form;
  if (settings.comparison) return *settings.comparison;
  const auto expected = [&](Form form) {
    const StepPlan plan = MakeStepPlan(settings, form);
    return protocols::ExpectedSeconds(DpSgdStepCost(plan, batch_rows), DpSgdStepSeconds(plan, batch_rows),
                                      link);
  };
  return expected(Form::kLatency) < expected(Form::kBulk) ? Form::kLatency : Form::kBulk;
}

StepPlan FasterPlan(const TrainingSettings& settings, Index batch_rows, const protocols::Link& link) {
  return MakeStepPlan(settings, FasterForm(settings, batch_rows, link));
}

}  // namespace trefoil::ml
