#pragma once
#include <memory>

#include "jobs/dpsgd/settings/settings.h"
#include "jobs/job.h"

namespace trefoil::jobs {

/// A job of type "dpsgd": a model trained by secure DP-SGD (ml/dpsgd/training.h), in steps, from checkpoints
/// where it has some.
extern const JobType kDpsgdType;

/// The job of these settings.
[[nodiscard]] std::unique_ptr<Job> MakeDpsgdJob(DpsgdSettings settings);

}  // namespace trefoil::jobs
