#pragma once
#include "jobs/dpsgd/settings/settings.h"

namespace trefoil::jobs {

/// Puts numbers where the job says "auto" (kAuto), from what it declares: rows, features, row_norm, epsilon
/// or sigma, delta. No data are read, so that all parties get the same. `document` is the job's file, for
/// errors: throws ConfigError as the reader does where no rule for the learning rate, the momentum or the clip
/// is known (hidden layers, the squared loss of classes, `clipping` "examples"). Sets `lost_steps_max` with
/// the steps where the job does not name it. Source: docs/howto/settings.md. Pre: [data] to [privacy] have
/// been read.
void ChooseSettings(DpsgdSettings& job, const Section& document);

/// Between which training.steps = "auto" is; without a rule for the learning rate it is the first.
inline constexpr std::int64_t kFewestAutoSteps = 100;
inline constexpr std::int64_t kMostAutoSteps = 300;

}  // namespace trefoil::jobs
