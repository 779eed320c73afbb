#pragma once
#include "jobs/dpsgd/settings.h"
#include "jobs/records/model_schema.h"
#include "ml/dpsgd/training.h"

namespace trefoil::jobs {

/// The part of a job that the training needs. Throws ConfigError as StandardisationEvent().
[[nodiscard]] ml::TrainingSettings SettingsOf(const DpsgdSettings& job);

/// The threshold of Huber's loss in units of the target's range. Pre: [data.target].
[[nodiscard]] double HuberThreshold(const DpsgdSettings& job);

/// Of the model that it trains.
[[nodiscard]] ModelSchema ModelSchemaOf(const DpsgdSettings& job);

}  // namespace trefoil::jobs
