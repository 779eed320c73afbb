#pragma once
#include "jobs/dpsgd/settings/settings.h"

namespace trefoil::jobs {

/// Puts numbers where the job says "auto" (kAuto), from what it declares: rows, features, row_norm, epsilon
/// or sigma, delta. No data are read, so that all parties get the same. `document` is the job's file, for
/// errors: throws ConfigError as the reader does where no rule for the learning rate or the clip is known
/// (hidden layers, the squared loss of classes, `clipping` "examples"). Source: docs/howto/settings.md. Pre:
/// [data] to [privacy] have been read.
void ChooseSettings(DpsgdSettings& job, const Section& document);

/// What training.steps = "auto" means.
inline constexpr std::int64_t kAutoSteps = 100;

}  // namespace trefoil::jobs
