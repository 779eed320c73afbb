#pragma once
#include "jobs/job.h"

namespace trefoil::jobs {

/// A job of type "statistics": means, deviations, quantiles, correlations and tables of counts of the columns
/// of the owners' records, all from one noisy sum.
extern const JobType kStatisticsType;

}  // namespace trefoil::jobs
