#pragma once
#include "jobs/job.h"

namespace trefoil::jobs {

/// A job of type "ensemble-transfer": owners' classifiers label public rows, a classifier is trained on the
/// votes on shares, and released with noise.
extern const JobType kTransferType;

}  // namespace trefoil::jobs
