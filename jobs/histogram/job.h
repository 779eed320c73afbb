#pragma once
#include "jobs/job.h"

namespace trefoil::jobs {

/// A job of type "histogram": how many records of all owners have each of some public values, by reports that
/// each owner perturbs record by record (mode "local"), or by exact counts on shares with one noise (mode
/// "central").
extern const JobType kHistogramType;

}  // namespace trefoil::jobs
