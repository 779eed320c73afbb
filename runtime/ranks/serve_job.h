#pragma once
#include "runtime/ranks/rank_group.h"
#include "runtime/run_job.h"

namespace trefoil::runtime {

/// The part of a rank above 0 in its party's run of a job: reads the job and the party file, meets the ranks of its number at
/// the peers, and serves rank 0, which alone has data, run directory, ledger and log. Returns kDone. Throws ConfigError for
/// what is wrong with the files; what fails later ends the group (RankGroup::End).
int ServeJob(const RunOptions& options, RankGroup& group);

}  // namespace trefoil::runtime
