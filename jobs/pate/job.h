#pragma once
#include "jobs/job.h"

namespace trefoil::jobs {

/// A job of type "pate": teachers that the parties trained on disjoint data, by whatever means, answer public
/// queries by noisy votes on shares.
extern const JobType kPateType;

}  // namespace trefoil::jobs
