#include "jobs/dpsgd/settings/auto_settings.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "dp/mechanisms/truncated_poisson.h"
#include "jobs/dpsgd/settings/training_settings.h"
#include "jobs/gaussian_target.h"
#include "jobs/records/record_fields.h"

namespace trefoil::jobs {
namespace {

constexpr double kLargestBatch = 4096;
/// Of delta, what cutting batches at the limit may cost; training refuses from a half on.
constexpr double kShareForCutting = 1e-3;
constexpr std::int64_t kLargestLimit = 10'000'000;
/// The clip in units of the gradient at zero weights.
constexpr double kClip = 0.5;
/// What the noise may come to in a logit: this over the number of an output's weights, between the two
/// limits.
constexpr double kNoiseOfWeights = 40;
constexpr double kLeastNoise = 2.5;
constexpr double kMostNoise = 8;
/// What one step may add to a logit, of the bound up to which logits are right.
constexpr double kLargestMove = 0.625;
/// The same of a target, which is scaled to -1/2 to 1/2; its usual error at zero weights.
constexpr double kTargetClip = 1;
constexpr double kTargetNoise = 0.2;
constexpr double kLargestTargetMove = 1.2;
constexpr double kTargetError = 0.2;
/// The same of counts, whose logits are logarithms, and whose range is wide.
constexpr double kPoissonNoise = 0.8;
constexpr double kPoissonError = 0.03;
/// Of trainings that go less far than noise lets them.
constexpr double kFarMomentum = 0.8;
/// What a step may add to a logit with all that this momentum repeats of it, of the bound: 100 of 64. From
/// twice the bound on, the series of the sigmoid is on the other class's side, so that errors have the wrong
/// sign and weights run away. What is left, 28 of 64, is room for noise: three times kMostNoise and more.
constexpr double kLargestFarMove = 1.5625;

/// Three digits, so that what libraries differ in, in the last one, makes no other job.
double Rounded(double value) {
  const auto text = fmt::format("{:.2e}", value);
  double rounded = 0;
  std::from_chars(text.data(), text.data() + text.size(), rounded);
  return rounded;
}

/// The length of a row with its bias.
double RowLength(const DpsgdSettings& job) { return std::hypot(job.features.row_norm, 1.0); }

/// nu of docs/howto/settings.md: the deviation of a mean gradient's noise over the clip, if all steps were
/// one.
double NoiseOf(const DpsgdSettings& job) {
  const auto& training = job.training;
  const auto& privacy = job.privacy;
  if (privacy.sigma) {
    return *privacy.sigma * kAllOverTwo * static_cast<double>(privacy.max_group_rows) /
           (training.expected_batch * std::sqrt(static_cast<double>(training.steps)));
  }
  const double one_release = std::sqrt(2 * std::log(1.25 / privacy.delta)) / *privacy.epsilon;
  const double of_all = privacy.against == ml::Adversary::kInsider ? kAllOverTwo : 1;
  return one_release * of_all * static_cast<double>(privacy.max_group_rows) /
         static_cast<double>(TotalRows(job.data));
}

/// The mean of the schedule's rates over that of the first step.
double MeanRate(const TrainingSpec& training) {
  double sum = 0;
  for (std::int64_t step = 0; step < training.steps; ++step)
    sum += std::ldexp(static_cast<double>(ml::RateAt(training.schedule, step, training.steps)), -30);
  return sum / static_cast<double>(training.steps);
}

/// Of a number to be predicted, in units of its range.
double TargetError(const DpsgdSettings& job) {
  if (job.model.loss == ml::Loss::kPoisson) return kPoissonError;
  return job.model.loss == ml::Loss::kHuber ? std::min(kTargetError, HuberThreshold(job)) : kTargetError;
}

/// The length of an error at zero weights, of all outputs.
double FirstError(const DpsgdSettings& job) {
  if (job.data.target) return TargetError(job);
  const double classes = job.data.classes;
  if (job.data.classes == 2) return 0.5;
  return job.model.loss == ml::Loss::kSoftmax ? std::sqrt(1 - 1 / classes) : 0.5 * std::sqrt(classes);
}

double ClipFor(const DpsgdSettings& job) {
  return Rounded((job.data.target ? kTargetClip : kClip) * FirstError(job) * RowLength(job));
}

/// What the noise may come to in a logit.
double BearableNoise(const DpsgdSettings& job) {
  if (job.model.loss == ml::Loss::kPoisson) return kPoissonNoise;
  if (job.data.target) return kTargetNoise;
  return std::clamp(kNoiseOfWeights / static_cast<double>(TrainedFeatures(job) + 1), kLeastNoise, kMostNoise);
}

/// What each of the steps may add to a logit for the noise's sake.
double MoveByNoise(const DpsgdSettings& job) {
  const double steps = static_cast<double>(job.training.steps) * MeanRate(job.training);
  return BearableNoise(job) / (NoiseOf(job) * steps);
}

/// What a step may add to a logit whatever the noise. `far`: with all that the rule's momentum repeats of it;
/// predictions of a target do not turn, so that each step may be as long as without.
double LargestMove(const DpsgdSettings& job, bool far) {
  if (job.data.target) return far ? kLargestTargetMove / (1 - kFarMomentum) : kLargestTargetMove;
  return (far ? kLargestFarMove : kLargestMove) * job.training.logit_bound;
}

/// What there are no rules with for the learning rate, the clip and more steps than the fewest; null where
/// there are.
const char* WithoutRules(const DpsgdSettings& job) {
  if (!job.model.hidden.empty()) return "hidden layers";
  if (job.model.loss == ml::Loss::kSquared && !job.data.target) return "model.loss \"squared\" of classes";
  if (job.training.clipping == ml::Clipping::kExamples) return "training.clipping \"examples\"";
  return nullptr;
}

/// `largest_move`: as LargestMove has it.
void ChooseSteps(DpsgdSettings& job, double largest_move) {
  if (WithoutRules(job)) return;
  while (job.training.steps < kMostAutoSteps && MoveByNoise(job) > largest_move) ++job.training.steps;
}

double LearningRateFor(const DpsgdSettings& job, double largest_move) {
  const auto& training = job.training;
  const double move = std::min(MoveByNoise(job), largest_move);
  const double length = RowLength(job);
  const double gradient = std::min(job.privacy.clip, FirstError(job) * length);
  return Rounded(move * (1 - training.momentum) / (gradient * length));
}

double ExpectedBatchFor(const DpsgdSettings& job) {
  const auto all = static_cast<double>(TotalRows(job.data));
  return job.privacy.sampling == ml::Sampling::kFull ? all : std::min(kLargestBatch, all);
}

std::int64_t BatchLimitFor(const DpsgdSettings& job) {
  auto rows = job.data.rows;
  if (const auto& batches = job.store.batches) {
    rows = {batches->records, 0, 0};
  } else if (job.privacy.sampling != ml::Sampling::kOwnerPoisson) {
    return std::min(kLargestLimit, *std::max_element(rows.begin(), rows.end()));
  }
  const double rate = std::min(1.0, job.training.expected_batch / static_cast<double>(TotalRows(job.data)));
  std::int64_t limit = 1;
  for (const std::int64_t capacity : rows) {
    limit = std::max(limit, dp::SmallestMaxBatch(kShareForCutting * job.privacy.delta, job.training.steps,
                                                 rate, capacity, job.privacy.max_group_rows));
  }
  return std::min(kLargestLimit, limit);
}

/// Refuses "auto" of this key where no rule is known.
void RequireRule(const DpsgdSettings& job, const Section& table, const char* key) {
  if (const char* what = WithoutRules(job))
    table.Refuse(key, fmt::format("a number with {}, for which there is no rule", what));
}

}  // namespace

void ChooseSettings(DpsgdSettings& job, const Section& document) {
  auto& training = job.training;
  if (training.expected_batch == kAuto) training.expected_batch = ExpectedBatchFor(job);
  const bool any_steps = training.steps == kAuto;
  if (any_steps) training.steps = kFewestAutoSteps;
  bool far = false;
  if (training.momentum == kAuto) {  // before steps, which cost more
    RequireRule(job, document.Table("training"), "momentum");
    far = MoveByNoise(job) > LargestMove(job, false);
    training.momentum = far ? kFarMomentum : 0;
  }
  const double largest_move = LargestMove(job, far);
  if (any_steps) {
    ChooseSteps(job, largest_move);
    // Its default is of steps, which were not known when it was read.
    if (!document.Table("training").Has("lost_steps_max")) training.lost_steps_max = training.steps / 10;
  }
  if (training.max_batch_per_owner == kAuto) training.max_batch_per_owner = BatchLimitFor(job);
  const bool chosen = training.learning_rate == kAuto;
  if (chosen) RequireRule(job, document.Table("training"), "learning_rate");
  if (job.privacy.clip == kAuto) {
    RequireRule(job, document.Table("privacy"), job.privacy.adaptive_clip ? "first_clip" : "clip");
    job.privacy.clip = ClipFor(job);
  }
  if (chosen) training.learning_rate = LearningRateFor(job, largest_move);
}

}  // namespace trefoil::jobs
