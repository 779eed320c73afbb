#pragma once
#include "jobs/job.h"

namespace trefoil::jobs {

/// A job of type "classifier-average": each owner trains a logistic regression, and what is released is their
/// average with noise, added on shares.
extern const JobType kAverageType;

}  // namespace trefoil::jobs
