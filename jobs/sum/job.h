#pragma once
#include "jobs/job.h"

namespace trefoil::jobs {

/// A job of type "sum": sums of the owners' vectors of bounded norm, one or several, each opened with noise.
extern const JobType kSumType;

}  // namespace trefoil::jobs
