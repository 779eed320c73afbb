#include "jobs/dpsgd/training_settings.h"

#include <spdlog/fmt/fmt.h>

#include <cmath>
#include <limits>

#include "base/error.h"
#include "jobs/dpsgd/evaluation_reader.h"
#include "jobs/dpsgd/initialisation_reader.h"

namespace trefoil::jobs {

namespace {

ml::Loss LossOf(const std::string& name) {
  if (name == "squared") return ml::Loss::kSquared;
  if (name == "softmax") return ml::Loss::kSoftmax;
  return ml::Loss::kOneVsRest;
}

ml::Clipping ClippingOf(const std::string& name) {
  if (name == "published") return ml::Clipping::kPublished;
  if (name == "examples") return ml::Clipping::kExamples;
  return ml::Clipping::kFactorised;
}

ml::RateSchedule ScheduleOf(const TrainingSpec& training) {
  ml::RateSchedule schedule{.final_rate = training.final_rate,
                            .decay_every = training.decay_every,
                            .decay_factor = training.decay_factor};
  if (training.schedule == "linear") schedule.shape = ml::RateShape::kLinear;
  if (training.schedule == "cosine") schedule.shape = ml::RateShape::kCosine;
  if (training.schedule == "step") schedule.shape = ml::RateShape::kStep;
  return schedule;
}

}  // namespace

ml::TrainingSettings SettingsOf(const DpsgdSettings& job) {
  if (job.training.steps > std::numeric_limits<int>::max()) throw ConfigError("training.steps: too many");
  ml::TrainingSettings settings;
  settings.fraction_bits = job.fraction_bits;
  settings.rows = job.data.rows;
  if (job.data.vertical) {
    settings.rows = {job.data.rows[0], 0, 0};
    settings.vertical =
        ml::VerticalSettings{.features = data::PartFeatures(job.data), .label_party = job.data.label.party};
  }
  settings.features = TrainedFeatures(job);
  settings.classes = job.data.classes;
  settings.loss = LossOf(job.model.loss);
  settings.hidden = job.model.hidden;
  settings.activation_bound = job.model.activation_bound;
  settings.delta_bound = job.model.delta_bound;
  settings.row_norm = job.features.row_norm;
  settings.steps = static_cast<int>(job.training.steps);
  settings.expected_batch = job.training.expected_batch;
  settings.max_batch_per_owner = job.training.max_batch_per_owner;
  settings.steps_ahead = job.training.steps_ahead;
  settings.learning_rate = job.training.learning_rate;
  settings.schedule = ScheduleOf(job.training);
  settings.momentum = job.training.momentum;
  settings.clipping = ClippingOf(job.training.clipping);
  settings.logit_bound = job.training.logit_bound;
  settings.truncation =
      job.training.truncation == "exact" ? protocols::Rounding::kExact : protocols::Rounding::kStochastic;
  if (job.training.comparison != "auto") {
    settings.comparison =
        job.training.comparison == "latency" ? protocols::Form::kLatency : protocols::Form::kBulk;
  }
  settings.sampling = job.privacy.sampling == "public" ? ml::Sampling::kPublic : ml::Sampling::kOwnerPoisson;
  settings.groups = job.privacy.groups();
  settings.group_rows = job.privacy.max_group_rows;
  settings.clip = job.privacy.clip;
  settings.sigma = job.privacy.sigma;
  settings.target_epsilon = job.privacy.epsilon.value_or(0.0);
  settings.delta = job.privacy.delta;
  settings.against = job.privacy.against == "outsider" ? ml::Adversary::kOutsider : ml::Adversary::kInsider;
  settings.accountant = dp::AccountantNamed(job.privacy.accountant);
  settings.release_to = job.release.to;
  settings.initialisation = InitialisationOf(job.initialisation);
  settings.evaluation = EvaluationOf(job.evaluation);
  return settings;
}

ml::TrainingSettings ClassifierSettings(const DpsgdSettings& job) {
  if (job.type == "dpsgd") return SettingsOf(job);
  ml::TrainingSettings settings;
  settings.fraction_bits = job.fraction_bits;
  settings.rows = job.data.rows;
  settings.features = TrainedFeatures(job);
  settings.classes = job.data.classes;
  settings.row_norm = job.features.row_norm;
  settings.clipping = ml::Clipping::kExamples;
  settings.steps = 1;
  settings.expected_batch = 1;
  settings.max_batch_per_owner = 1;
  settings.learning_rate = 1;
  settings.clip = 1;
  settings.release_to = {};
  return settings;
}

void RequireLogitsInRing(double weight_norm, double row_norm, int fraction_bits) {
  const double logit = std::ldexp(weight_norm * std::hypot(row_norm, 1.0), fraction_bits);
  if (!(logit < 0x1p62))
    throw ConfigError(
        fmt::format("release.to: found [], expected a party, or fraction_bits below {}: logits of such "
                    "weights could leave the ring",
                    fraction_bits));
}

}  // namespace trefoil::jobs
