#pragma once
#include <string>
#include <vector>

#include "jobs/job.h"

namespace trefoil::jobs {

/// What whoever plans or runs a job should know of its settings, a line each: a delta that is not below one
/// over the declared rows, an insider's epsilon far above an outsider's, a row_norm to which most rows of few
/// columns are shortened, and what the job's type adds (Job::Advice). By the job alone, which is public;
/// nothing of the data. `epsilons`: Job::Epsilons() of a job that charges, which take their time; of another
/// not looked at. Throws as Job::Events.
[[nodiscard]] std::vector<std::string> AdviceOn(const Job& job, const dp::EpsilonPair& epsilons);

}  // namespace trefoil::jobs
