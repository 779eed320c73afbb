#include "jobs/dpsgd/settings/training_settings.h"

#include <spdlog/fmt/fmt.h>

#include <cmath>
#include <optional>

#include "base/error.h"
#include "jobs/deposited_records.h"
#include "jobs/dpsgd/ranges.h"
#include "jobs/dpsgd/standardisation.h"
#include "jobs/records/record_fields.h"
#include "ml/scores/probabilities.h"

namespace trefoil::jobs {
namespace {

/// Noise beside how far records of p numbers go that do not all point one way, which is about the farthest
/// over the root of p: from about here on a training of tables lost much of what it had without
/// (docs/howto/settings.md).
constexpr double kDrowningNoise = 0.1;
/// Of the noise that rounding errors may ask for: a tenth more.
constexpr double kMuchForRounding = 1.1;

/// A line where no step comes to a checkpoint but the last; else none.
std::vector<std::string> CheckpointAdvice(const DpsgdSettings& job) {
  const auto every = job.training.checkpoint_every;
  if (every <= job.training.steps) return {};
  return {
      fmt::format("training.checkpoint_every, {}, is above the {} steps: no checkpoint is kept between "
                  "the first step and the last, and a run that ends there does all its steps again",
                  every, job.training.steps)};
}

/// None where what the settings ask for has no room in the ring.
std::optional<ml::StepPlan> PlanIfInRange(const ml::TrainingSettings& settings) {
  try {
    return ml::MakeStepPlan(settings);
  } catch (const ConfigError&) {
    return {};
  }
}

}  // namespace

ml::TrainingSettings SettingsOf(const DpsgdSettings& job) {
  ml::TrainingSettings settings;
  settings.fraction_bits = job.fraction_bits;
  settings.row_fraction_bits = job.features.fraction_bits;
  settings.rows = job.data.rows;
  settings.deposited = job.store.on;
  if (const auto& batches = job.store.batches)
    settings.batches = ml::DepositedBatches{.deposits = batches->deposits, .records = batches->records};
  settings.block_rows = BlockRows(job);
  if (job.data.vertical) {
    settings.rows = {job.data.rows[0], 0, 0};
    settings.vertical =
        ml::VerticalSettings{.features = data::PartFeatures(job.data), .label_party = job.data.label.party};
  }
  settings.features = TrainedFeatures(job);
  settings.classes = job.data.classes;
  settings.targets = job.data.target.has_value();
  settings.loss = job.model.loss;
  if (job.model.loss == ml::Loss::kHuber) settings.huber_threshold = HuberThreshold(job);
  settings.hidden = job.model.hidden;
  settings.activation_bound = job.model.activation_bound;
  settings.delta_bound = job.model.delta_bound;
  settings.threshold = job.model.threshold;
  settings.class_weights = job.model.class_weights.given;
  if (job.model.class_weights.balanced) settings.balance_sigma = job.model.class_counts_sigma;
  if (const auto* weights = data::WeightColumn(job.data)) settings.max_record_weight = weights->largest;
  settings.row_norm = job.features.row_norm;
  settings.steps = static_cast<int>(job.training.steps);
  settings.expected_batch = job.training.expected_batch;
  settings.max_batch_per_owner = job.training.max_batch_per_owner;
  settings.steps_ahead = job.training.steps_ahead;
  settings.learning_rate = job.training.learning_rate;
  settings.schedule = job.training.schedule;
  settings.momentum = job.training.momentum;
  settings.clipping = job.training.clipping;
  settings.error_fraction_bits = job.training.error_fraction_bits;
  settings.logit_bound = job.training.logit_bound;
  settings.truncation = job.training.truncation;
  settings.comparison = job.training.comparison;
  settings.sampling = job.privacy.sampling;
  settings.groups = job.privacy.groups();
  settings.group_rows = job.privacy.max_group_rows;
  settings.clip = job.privacy.clip;
  settings.adaptive = job.privacy.adaptive_clip;
  settings.sigma = job.privacy.sigma;
  settings.target_epsilon = job.privacy.epsilon.value_or(0.0);
  settings.delta = job.privacy.delta;
  settings.against = job.privacy.against;
  settings.accountant = job.privacy.accountant;
  settings.release_to = job.release.to;
  if (CountedCells(job) > 0) settings.ranges = RangesEvent(job);  // refuses more than can be counted
  if (job.features.standardise.on) settings.standardisation = StandardisationEvent(job);
  settings.initialisation = job.initialisation;
  settings.evaluation = job.evaluation;
  return settings;
}

double HuberThreshold(const DpsgdSettings& job) {
  const auto& target = job.data.target.value();
  return job.model.huber_threshold / (target.high - target.low);
}

ModelSchema ModelSchemaOf(const DpsgdSettings& job) {
  return {.records = job,
          .classifier = SettingsOf(job),
          .probabilities = ml::HasProbabilities(job.model.loss),
          .json = DpsgdJson(job)};
}

/// A step moves a row's logit by the learning rate times the mean of directions at most, of length Delta at
/// most; all steps together by T times that, while their noise adds up to the root of T times that of one.
std::vector<std::string> NoiseAdvice(const ml::TrainingSettings& settings, double sigma, std::int64_t rows) {
  // Of a group sigma is relative to what all of its rows can do.
  const auto of_unit = static_cast<double>(settings.groups ? settings.group_rows : 1);
  const double noise = of_unit * dp::kAllOverTwo * sigma /
                       (settings.expected_batch * std::sqrt(static_cast<double>(settings.steps)));
  if (noise * std::sqrt(static_cast<double>(settings.features)) < kDrowningNoise) return {};
  const bool all_rows = settings.expected_batch >= static_cast<double>(rows);
  return {
      fmt::format("the noise in a record's logit comes to {:.2g} of the farthest that {} steps can move it, "
                  "which with {} features drowns much of what {} rows say: a larger epsilon{} is what helps",
                  noise, settings.steps, settings.features, rows,
                  all_rows ? " or more rows" : ", more rows or a larger training.expected_batch")};
}

std::vector<std::string> LatticeAdvice(const ml::TrainingSettings& settings) {
  const auto plan = ml::MakeStepPlan(settings);
  std::vector<std::string> lines;
  const auto note_unless_shorter = [&](const ml::StepPlan& without, const std::string& what) {
    // Not of both keys, as either alone might do.
    if (plan.row_bits != without.row_bits || !lines.empty()) return;
    lines.push_back(what +
                    (HasNarrowRows(plan)
                         ? fmt::format(" no row shorter: its numbers take {} bytes with and without it",
                                       plan.row_bits / 8)
                         : " no row shorter: with and without it rows are whole words of 8 bytes"));
  };
  if (const auto bits = settings.row_fraction_bits; bits && *bits < settings.fraction_bits) {
    auto without = settings;
    without.row_fraction_bits.reset();
    if (const auto plain = PlanIfInRange(without))
      note_unless_shorter(*plain, fmt::format("features.fraction_bits, {}, rounds rows and makes", *bits));
  }
  if (const auto bits = settings.error_fraction_bits; bits && *bits < settings.fraction_bits) {
    auto without = settings;
    without.error_fraction_bits.reset();
    const auto plain = PlanIfInRange(without);
    if (!plain) return lines;
    note_unless_shorter(*plain,
                        fmt::format("training.error_fraction_bits, {}, raises the noise and makes", *bits));
    const double factor = plan.sensitivity / plain->sensitivity;
    if (factor > kMuchForRounding)
      lines.push_back(
          fmt::format("training.error_fraction_bits, {}, makes the noise {:.2g} times as large: more "
                      "bits or a larger privacy.clip leave more of the signal",
                      *bits, factor));
  }
  return lines;
}

std::vector<std::string> TrainingAdvice(const DpsgdSettings& job, const ml::TrainingSettings& settings,
                                        double sigma) {
  std::vector<std::vector<std::string>> parts{NoiseAdvice(settings, sigma, TotalRows(job.data)),
                                              LatticeAdvice(settings), CheckpointAdvice(job)};
  if (settings.standardisation) parts.push_back(MeansAdvice(job, *settings.standardisation));
  if (settings.ranges) parts.push_back(RangesAdvice(job, *settings.ranges));
  std::vector<std::string> lines;
  for (const auto& part : parts) lines.insert(lines.end(), part.begin(), part.end());
  return lines;
}

}  // namespace trefoil::jobs
