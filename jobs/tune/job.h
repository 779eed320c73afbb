#pragma once
#include "jobs/job.h"

namespace trefoil::jobs {

/// A job of type "tune": models are trained on shares with each of several settings, compared by noisy counts
/// of one party's test records, and the best of a secret number and choice of them is released, and nothing
/// else.
extern const JobType kTuneType;

}  // namespace trefoil::jobs
