#include "ml/step_plan.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "base/error.h"
#include "ml/step_ranges.h"
#include "protocols/inverse_sqrt.h"

namespace trefoil::ml {
namespace {

double GradientSensitivity(const StepPlan& plan) {
  switch (plan.settings.clipping) {
    case Clipping::kFactorised:
      return dp::FactorisedSensitivity(plan.example, plan.settings.clip);
    case Clipping::kExamples:
      return dp::UnclippedSensitivity(plan.example);
    case Clipping::kPublished: {
      const protocols::Excess excess = protocols::InverseSqrtExcess(plan.settings.fraction_bits);
      return dp::PublishedSensitivity(plan.example, plan.settings.clip,
                                      static_cast<double>((plan.settings.features + 1) * plan.columns),
                                      excess.relative, excess.units);
    }
  }
  throw ContractError("GradientSensitivity: unknown clipping");
}

/// Differs, but for an accident of one in 2^64, where any step's mantissa does.
std::uint64_t ScheduleDigest(const StepPlan& plan) {
  std::uint64_t digest = 0;
  for (int step = 0; step < plan.settings.steps; ++step)
    digest = digest * 6364136223846793005U + MantissaAt(plan, step);
  return digest;
}

}  // namespace

StepPlan MakeStepPlan(const TrainingSettings& settings, protocols::Form form) {
  CheckDomains(settings);
  StepPlan plan;
  plan.settings = settings;
  plan.columns = settings.classes == 2 ? 1 : settings.classes;
  plan.activation = MakeActivation({.loss = settings.loss,
                                    .columns = plan.columns,
                                    .logit_bound = settings.logit_bound,
                                    .frac_bits = settings.fraction_bits,
                                    .rounding = settings.truncation,
                                    .form = form});
  plan.example = {.frac_bits = settings.fraction_bits,
                  .row_norm = settings.row_norm,
                  .columns = plan.columns,
                  .error_norm = plan.activation.error_norm};
  plan.row_norm_bits = RowNormBits(plan.example);
  plan.gradient_bits =
      settings.clipping == Clipping::kPublished ? settings.fraction_bits : 2 * settings.fraction_bits;
  plan.sensitivity = GradientSensitivity(plan);
  plan.lattice_sensitivity =
      static_cast<std::uint64_t>(std::ceil(std::ldexp(plan.sensitivity, plan.gradient_bits)));
  if (settings.clipping == Clipping::kFactorised) {
    const double slack = std::ldexp(1.0, -plan.row_norm_bits);
    plan.clip =
        protocols::MakeClipTable(settings.clip, dp::SquaredGradientBound(plan.example, slack),
                                 plan.row_norm_bits + 2 * settings.fraction_bits, form, settings.truncation);
  }
  if (settings.clipping == Clipping::kPublished) CheckPublishedRange(settings);
  plan.step_size = ChooseStepSize(plan, std::min(settings.sigma.value_or(10), kLargestSigma));
  plan.update_shift = UpdateShift(plan, plan.step_size);
  plan.momentum_factor =
      static_cast<std::uint64_t>(std::floor(std::ldexp(settings.momentum, plan.update_shift)));
  plan.batch_rows = LargestBatch(settings);
  return plan;
}

std::uint64_t MantissaAt(const StepPlan& plan, std::int64_t step) {
  return ScheduledMantissa(plan.settings.schedule, plan.step_size.mantissa, step, plan.settings.steps);
}

std::string Fingerprint(const StepPlan& plan, double sigma) {
  std::ostringstream text;
  text << std::hexfloat;
  const bool exact = plan.settings.truncation == protocols::Rounding::kExact;
  text << (exact ? "exact " : "stochastic ");
  text << plan.columns << ' ' << plan.row_norm_bits << ' ' << plan.gradient_bits << ' '
       << plan.lattice_sensitivity << ' ' << plan.step_size.mantissa << ' ' << plan.step_size.exponent << ' '
       << plan.momentum_factor << ' ' << ScheduleDigest(plan) << ' ' << plan.batch_rows << ' '
       << plan.clip.shift << ' ' << plan.clip.pieces.width << ' ' << sigma;
  for (const std::int64_t threshold : plan.clip.pieces.thresholds) text << ' ' << threshold;
  for (const auto& piece : plan.clip.pieces.coefficients) {
    for (const std::int64_t coefficient : piece) text << ' ' << coefficient;
  }
  return text.str();
}

}  // namespace trefoil::ml
