#include "ml/plan/step_plan.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "base/error.h"
#include "ml/plan/public_sampling.h"
#include "ml/plan/step_ranges.h"
#include "protocols/functions/inverse_sqrt.h"

namespace trefoil::ml {
namespace {

constexpr double kMaxWeightError = 0.02;  // of a class weight, by its rounding

std::vector<LayerShape> LayersOf(const TrainingSettings& settings, int columns) {
  std::vector<LayerShape> layers;
  mpc::Index inputs = settings.features + 1;
  for (const std::int64_t size : settings.hidden) {
    layers.push_back({.inputs = inputs, .outputs = size});
    inputs = size + 1;
  }
  layers.push_back({.inputs = inputs, .outputs = columns});
  return layers;
}

/// Bounds for every ring value of the weights: entries of hidden layers are cut at activation_bound, deltas
/// at delta_bound, and errors by their activation.
std::vector<dp::LayerContribution> NetworkOf(const StepPlan& plan) {
  const TrainingSettings& settings = plan.settings;
  std::vector<dp::LayerContribution> network;
  double input_norm = dp::RowBound(plan.example);
  for (const std::int64_t size : settings.hidden) {
    const double root = std::sqrt(static_cast<double>(size));
    network.push_back({.input_norm = input_norm,
                       .delta_norm = settings.delta_bound * root,
                       .outputs = static_cast<int>(size)});
    input_norm = std::hypot(settings.activation_bound * root, 1.0) * (1 + 1e-12);
  }
  network.push_back(
      {.input_norm = input_norm, .delta_norm = plan.example.error_norm, .outputs = plan.columns});
  return network;
}

/// Weights that are to be balanced are at most 1, whatever is counted: all that is planned follows from the
/// largest.
std::vector<double> PlannedWeights(const TrainingSettings& settings) {
  if (!settings.balance_sigma) return settings.class_weights;
  return std::vector<double>(static_cast<std::size_t>(settings.classes), 1.0);
}

/// To the nearest.
ClassWeights OnLattice(const std::vector<double>& weights, double error_norm, int fraction_bits) {
  ClassWeights out;
  if (weights.empty()) return out;
  out.frac_bits = WeightBits(*std::max_element(weights.begin(), weights.end()), error_norm, fraction_bits,
                             "model.class_weights");
  for (const double weight : weights) {
    const auto units = std::llround(std::ldexp(weight, out.frac_bits));
    if (std::abs(std::ldexp(static_cast<double>(units), -out.frac_bits) - weight) > kMaxWeightError * weight)
      throw ConfigError(
          "model.class_weights: found weights too far from each other for fraction_bits, expected them "
          "nearer, or "
          "fewer fraction_bits");
    out.of_class.push_back(static_cast<mpc::Word>(units));
  }
  return out;
}

/// The largest of the weights as they are on their lattice.
double LargestWeight(const ClassWeights& weights) {
  const auto largest = *std::max_element(weights.of_class.begin(), weights.of_class.end());
  return std::ldexp(static_cast<double>(largest), -weights.frac_bits);
}

/// Each to the nearest, so that none that is within the bound becomes larger than the bound does.
RecordWeights RecordWeightsOf(const TrainingSettings& settings, double error_norm) {
  if (!settings.max_record_weight) return {};
  const double bound = *settings.max_record_weight;
  const int bits = WeightBits(bound, error_norm, settings.fraction_bits, "the largest weight of a record");
  return {.frac_bits = bits, .largest = static_cast<mpc::Word>(std::llround(std::ldexp(bound, bits)))};
}

/// Two units of each squared norm: a truncation's and what makes it an upper bound.
double NormSlack(const StepPlan& plan) { return std::ldexp(2.0, -plan.row_norm_bits); }

/// The table for s at the scale that it comes in, of a linear model or a network.
protocols::ClipTable ClipTableFor(const StepPlan& plan, protocols::Form form) {
  const TrainingSettings& s = plan.settings;
  if (IsNetwork(plan)) {
    return protocols::MakeClipTable(s.clip, dp::SquaredGradientBound(plan.network, NormSlack(plan)),
                                    2 * plan.row_norm_bits, form, s.truncation);
  }
  const double slack = std::ldexp(1.0, -plan.row_norm_bits);
  return protocols::MakeClipTable(s.clip, dp::SquaredGradientBound(plan.example, slack),
                                  plan.row_norm_bits + 2 * s.fraction_bits, form, s.truncation);
}

double GradientSensitivity(const StepPlan& plan) {
  if (IsNetwork(plan))
    return dp::FactorisedSensitivity(plan.network, plan.settings.fraction_bits, plan.settings.clip);
  switch (plan.settings.clipping) {
    case Clipping::kFactorised:
      return dp::FactorisedSensitivity(plan.example, plan.settings.clip, ErrorFractionBits(plan.settings));
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
  plan.batch_rows = LargestBatch(settings);
  if (settings.sampling == Sampling::kPublic)
    plan.batch_rows = PublicHeight(plan.batch_rows, SamplingRate(settings), settings.steps);
  plan.columns = settings.classes == 2 ? 1 : settings.classes;
  plan.activation =
      MakeActivation({.loss = settings.loss,
                      .columns = plan.columns,
                      .logit_bound = settings.logit_bound,
                      .huber_threshold = settings.huber_threshold,
                      .frac_bits = settings.fraction_bits,
                      .row_frac_bits = settings.hidden.empty() ? settings.row_fraction_bits : std::nullopt,
                      .rounding = settings.truncation,
                      .form = form});
  plan.example = {.frac_bits = settings.fraction_bits,
                  .row_norm = settings.row_norm,
                  .columns = plan.columns,
                  .error_norm = plan.activation.error_norm};
  plan.class_weights =
      OnLattice(PlannedWeights(settings), plan.activation.error_norm, settings.fraction_bits);
  if (!plan.class_weights.of_class.empty())
    plan.example.error_norm = dp::WeightedErrorNorm(plan.example, LargestWeight(plan.class_weights));
  plan.record_weights = RecordWeightsOf(settings, plan.example.error_norm);
  if (plan.record_weights.largest > 0) {
    const auto largest = static_cast<double>(plan.record_weights.largest);
    plan.example.error_norm =
        dp::WeightedErrorNorm(plan.example, std::ldexp(largest, -plan.record_weights.frac_bits));
  }
  plan.grid = MakeClipGrid(settings);
  if (settings.adaptive)
    plan.example.error_norm = dp::WeightedErrorNorm(plan.example, std::exp2(kClipOctaves));
  plan.layers = LayersOf(settings, plan.columns);
  if (IsNetwork(plan)) plan.network = NetworkOf(plan);
  const int row_bits = RowFractionBits(settings);
  // The square of a row on its lattice has no more bits than twice as many.
  plan.row_norm_bits =
      std::min(IsNetwork(plan) ? NetworkNormBits(plan) : RowNormBits(plan.example), 2 * row_bits);
  plan.gradient_bits = settings.clipping == Clipping::kPublished
                           ? settings.fraction_bits
                           : row_bits + RowShift(plan) + ErrorFractionBits(settings);
  plan.row_sensitivity = GradientSensitivity(plan);
  plan.sensitivity = static_cast<double>(settings.group_rows) * plan.row_sensitivity;
  plan.lattice_sensitivity =
      static_cast<std::uint64_t>(settings.group_rows) *
      static_cast<std::uint64_t>(std::ceil(std::ldexp(plan.row_sensitivity, plan.gradient_bits)));
  if (settings.clipping == Clipping::kFactorised) plan.clip = ClipTableFor(plan, form);
  if (settings.clipping == Clipping::kPublished) CheckPublishedRange(settings);
  plan.step_size = ChooseStepSize(plan, std::min(settings.sigma.value_or(kExpectedSigma), kLargestSigma));
  plan.update_shift = UpdateShift(plan, plan.step_size);
  plan.momentum_factor =
      static_cast<std::uint64_t>(std::floor(std::ldexp(settings.momentum, plan.update_shift)));
  const double sigma = SigmaAbove(settings);
  plan.row_bits = RowBits(plan, sigma);
  plan.update_bits = UpdateBits(plan, sigma);
  if (!IsNetwork(plan)) plan.activation.row_bits = plan.row_bits;  // a network's logits are whole
  plan.block_rows = settings.block_rows > 0 ? settings.block_rows : plan.batch_rows;
  plan.blocks = (plan.batch_rows + plan.block_rows - 1) / plan.block_rows;
  return plan;
}

StepPlan WithWholeRows(StepPlan plan) {
  plan.settings.row_fraction_bits.reset();
  plan.settings.error_fraction_bits.reset();
  plan.row_bits = 64;
  plan.update_bits = 64;
  plan.activation.options.row_frac_bits.reset();
  plan.activation.row_bits = 64;
  return plan;
}

LayerShape ShapeOfWeights(const StepPlan& plan) {
  if (!IsNetwork(plan)) return plan.layers.front();
  LayerShape all{.inputs = 0, .outputs = 1};
  for (const LayerShape& layer : plan.layers) all.inputs += layer.weights();
  return all;
}

std::uint64_t MantissaAt(const StepPlan& plan, std::int64_t step, int clip_at) {
  const std::uint64_t peak = plan.step_size.mantissa;
  const bool moves = !plan.grid.scales.empty();
  return ScheduledMantissa(plan.settings.schedule, moves ? MantissaForClip(plan.grid, peak, clip_at) : peak,
                           step, plan.settings.steps);
}

std::string Fingerprint(const StepPlan& plan, double sigma) {
  std::ostringstream text;
  text << std::hexfloat;
  const bool exact = plan.settings.truncation == protocols::Rounding::kExact;
  text << (exact ? "exact " : "stochastic ");
  text << plan.columns << ' ' << plan.row_norm_bits << ' ' << plan.gradient_bits << ' '
       << plan.lattice_sensitivity << ' ' << plan.step_size.mantissa << ' ' << plan.step_size.exponent << ' '
       << plan.momentum_factor << ' ' << ScheduleDigest(plan) << ' ' << plan.batch_rows << ' '
       << plan.clip.shift << ' ' << plan.clip.pieces.width << ' ' << plan.clip.pieces.blur.dropped << ' '
       << sigma << ' ' << Fingerprint(plan.activation) << ' ' << static_cast<int>(plan.clip.form);
  for (const LayerShape& layer : plan.layers) text << ' ' << layer.inputs << 'x' << layer.outputs;
  if (IsNetwork(plan)) text << ' ' << plan.settings.activation_bound << ' ' << plan.settings.delta_bound;
  if (!plan.class_weights.of_class.empty()) {
    text << " weights " << plan.class_weights.frac_bits;
    for (const mpc::Word weight : plan.class_weights.of_class) text << ' ' << weight;
  }
  if (plan.record_weights.largest > 0)
    text << " record weights " << plan.record_weights.frac_bits << ' ' << plan.record_weights.largest;
  if (HasNarrowRows(plan) || plan.settings.row_fraction_bits)
    text << " rows " << plan.row_bits << ' ' << RowFractionBits(plan.settings);
  if (plan.update_bits != plan.row_bits) text << " updates " << plan.update_bits;
  if (plan.settings.adaptive) {
    text << " adaptive " << plan.grid.drift << ' ' << plan.grid.pull << ' '
         << ClipCountMultiplier(plan.settings);
    for (const mpc::Word scale : plan.grid.scales) text << ' ' << scale;
  }
  if (plan.settings.deposited) text << " deposited";
  if (plan.blocks > 1) text << " blocks " << plan.blocks << ' ' << plan.block_rows;
  if (plan.settings.balance_sigma) text << " balanced " << *plan.settings.balance_sigma;
  if (const auto& vertical = plan.settings.vertical) {
    for (const std::int64_t columns : vertical->features) text << ' ' << columns;
    text << ' ' << vertical->label_party;
  }
  for (const std::int64_t threshold : plan.clip.pieces.thresholds) text << ' ' << threshold;
  for (const auto& piece : plan.clip.pieces.coefficients) {
    for (const std::int64_t coefficient : piece) text << ' ' << coefficient;
  }
  return text.str();
}

}  // namespace trefoil::ml
