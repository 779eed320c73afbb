#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "jobs/dpsgd/settings/settings.h"
#include "jobs/records/model_schema.h"
#include "ml/dpsgd/training.h"

namespace trefoil::jobs {

/// The part of a job that the training needs. Throws ConfigError as StandardisationEvent().
[[nodiscard]] ml::TrainingSettings SettingsOf(const DpsgdSettings& job);

/// The threshold of Huber's loss in units of the target's range. Pre: [data.target].
[[nodiscard]] double HuberThreshold(const DpsgdSettings& job);

/// What whoever plans a training of `rows` records should know of its noise, of multiplier `sigma`: a line
/// where it drowns much of what they say; else none. Of a tuning: one of its trials.
[[nodiscard]] std::vector<std::string> NoiseAdvice(const ml::TrainingSettings& settings, double sigma,
                                                   std::int64_t rows);

/// The same of rows and of clipped errors at fewer bits: lines where they make no row shorter, or the noise
/// much larger. None of what would have no room without.
[[nodiscard]] std::vector<std::string> LatticeAdvice(const ml::TrainingSettings& settings);

/// All that whoever plans a training should know: these lines, where no step comes to a checkpoint but the
/// last, and where noise drowns what features are standardised by. `settings` are SettingsOf(job).
[[nodiscard]] std::vector<std::string> TrainingAdvice(const DpsgdSettings& job,
                                                      const ml::TrainingSettings& settings, double sigma);

/// Of the model that it trains.
[[nodiscard]] ModelSchema ModelSchemaOf(const DpsgdSettings& job);

}  // namespace trefoil::jobs
