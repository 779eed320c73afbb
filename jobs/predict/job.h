#pragma once
#include "jobs/job.h"

namespace trefoil::jobs {

/// A job of type "predict": a model in shares, which another run made, classifies rows of one party, or of
/// owners who deposited them. The job charges nothing: the record of that run covers it.
extern const JobType kPredictType;

}  // namespace trefoil::jobs
