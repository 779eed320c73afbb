#include "ml/dpsgd/adaptive_clip.h"

#include <cmath>
#include <utility>

#include "base/error.h"
#include "dp/mechanisms/discrete_gaussian.h"
#include "ml/plan/step_privacy.h"
#include "mpc/parallel.h"
#include "protocols/arithmetic/multiply.h"
#include "protocols/arithmetic/reveal.h"
#include "protocols/arithmetic/truncate.h"

namespace trefoil::ml {
namespace {

using mpc::FixedShare;
using mpc::Index;

/// Times C / C_k, truncated: a weight that all records have alike.
FixedShare Scaled(mpc::Context& party, const StepPlan& plan, const FixedShare& errors, int clip_at) {
  return {protocols::Truncate(party, ClipScale(plan.grid, clip_at) * errors.ring(), kClipScaleBits,
                              protocols::Range::kSigned, plan.settings.truncation),
          errors.frac_bits()};
}

mpc::Cost ScaledCost(const StepPlan& plan, Index batch_rows) {
  return protocols::TruncateCost(batch_rows * plan.columns, kClipScaleBits, plan.settings.truncation);
}

/// The count, signed.
mpc::Word OpenWithin(mpc::Context& party, const StepPlan& plan, const mpc::AdditiveShare& noisy) {
  const mpc::RingMatrix opened = protocols::Reveal(party, protocols::Reshare(party, CountToOpen(plan, noisy)),
                                                   protocols::ReleaseReason::kClipCounts);
  // Above k bits the sum would tell without noise how many records the clip shortens.
  if (HasNarrowRows(plan)) Require((opened(0, 0) << plan.row_bits) == 0, "OpenWithin: k bits of a count");
  return static_cast<mpc::Word>(mpc::Signed(opened(0, 0)) >> (64 - plan.row_bits));
}

}  // namespace

AdaptivelyClipped ClipAdaptively(mpc::Context& party, const StepPlan& plan, const Batch& batch,
                                 const FixedShare& errors, int clip_at) {
  const FixedShare scaled = Scaled(party, plan, errors, clip_at);
  auto [factors, within] =
      protocols::ClipFactorAndWithin(party, plan.clip, SquaredGradientNorms(party, batch, scaled));
  return {.errors = TimesFactors(party, plan, scaled, factors), .within = std::move(within)};
}

mpc::AdditiveShare SignedMasks(mpc::Context& party, const Batch& batch, const mpc::ArithShare& within) {
  const mpc::ArithShare mask = MaskBits(batch);
  return protocols::LocalProduct(party, mask, mpc::Word{2} * within) + ToAdditive(-mask);
}

ClippedSums AdaptiveGradient(mpc::Context& party, const StepPlan& plan, const Batch& batch,
                             const FixedShare& weights, int clip_at) {
  const FixedShare errors = PredictionErrors(party, plan, batch, BatchLogits(party, batch, weights));
  const auto clipped = ClipAdaptively(party, plan, batch, errors, clip_at);
  const mpc::RingMatrix masks = SignedMasks(party, batch, clipped.within).part();
  return {.gradient = SumGradients(party, batch, clipped.errors),
          .within = mpc::AdditiveShare(mpc::RingMatrix::Constant(1, 1, masks.sum()))};
}

mpc::Cost AdaptiveGradientCost(const StepPlan& plan, Index batch_rows) {
  const mpc::Cost errors = Then(PredictionErrorsCost(plan, batch_rows), ScaledCost(plan, batch_rows));
  const mpc::Cost factors =
      Then(SquaredGradientNormsCost(batch_rows), protocols::ClipFactorAndWithinCost(plan.clip, batch_rows));
  return Then(Then(errors, factors), TimesFactorsCost(plan, batch_rows));
}

mpc::AdditiveShare CountToOpen(const StepPlan& plan, const mpc::AdditiveShare& noisy) {
  return (mpc::Word{1} << (64 - plan.row_bits)) * noisy;
}

StepNoise ClipCountNoise(const StepPlan& plan, double sigma, RandomStream& stream) {
  StepNoise noise(1, 1);
  if (sigma == 0) return noise;
  const dp::DiscreteGaussian sampler(ClipCountVariance(plan.settings));
  noise.values()(0, 0) = static_cast<mpc::Word>(sampler.Sample(stream));
  return noise;
}

AdaptiveStepResult AdaptiveStep(mpc::Context& party, const StepPlan& plan, const Batch& batch,
                                const TrainingState& state, const StepNoises& own_noise) {
  const int clip_at = state.clip_at.value();
  const ClippedSums sums = AdaptiveGradient(party, plan, batch, state.weights, clip_at);
  auto [next, within] = mpc::Parallel(
      party,
      [&](mpc::Context& branch) {
        return ApplyUpdate(branch, plan, state, AddNoise(sums.gradient, own_noise.gradient));
      },
      [&](mpc::Context& branch) {
        return OpenWithin(branch, plan, AddNoise(sums.within, own_noise.within));
      });
  const int bits = RowFractionBits(plan.settings);
  next.clip_at = NextClip(plan.settings, plan.grid, clip_at, within, bits);
  return {.state = std::move(next), .within = std::ldexp(static_cast<double>(mpc::Signed(within)), -bits)};
}

mpc::Cost AdaptiveStepCost(const StepPlan& plan, Index batch_rows) {
  const mpc::Cost opening = Then(protocols::ReshareCost(1), protocols::RevealCost(1));
  return Then(AdaptiveGradientCost(plan, batch_rows),
              Parallel(ApplyUpdateCost(plan, ShapeOfWeights(plan).weights()), opening));
}

}  // namespace trefoil::ml
