#pragma once
#include <string>

#include "jobs/job.h"
#include "jobs/sum/settings.h"

namespace trefoil::jobs {

/// Deals each call's vectors of the job's data folder, or generated ones, to the three party folders, as
/// [local] says; where owners sum by themselves, what each party's vectors add up to, each shortened to
/// norm_bound before. Returns what to say of it. Throws DataError as ReadVectors, or where a file is missing.
[[nodiscard]] std::string SplitVectors(const SumSettings& job, const SplitTarget& target);

}  // namespace trefoil::jobs
