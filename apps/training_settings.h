#pragma once
#include "apps/job.h"
#include "ml/training.h"

namespace trefoil::apps {

/// The part of a job that the training needs.
[[nodiscard]] ml::TrainingSettings SettingsOf(const Job& job);

}  // namespace trefoil::apps
