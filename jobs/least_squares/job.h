#pragma once
#include "jobs/job.h"

namespace trefoil::jobs {

/// A job of type "least-squares": a linear model from sums of products of the owners' records, opened once
/// with noise and solved in the clear.
extern const JobType kLeastSquaresType;

}  // namespace trefoil::jobs
