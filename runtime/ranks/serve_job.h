#pragma once
#include "runtime/ranks/rank_group.h"
#include "runtime/run_job.h"

namespace trefoil::runtime {

/// What the party file says of its ranks, read before there are any; the defaults where it cannot be read.
/// Throws ConfigError where mpirun has started several processes of a party of one machine: MPI is none of
/// its business then.
[[nodiscard]] RankLimits LimitsOf(const RunOptions& options);

/// The part of a rank above 0 in its party's run of a job: reads the job and the party file, and of some
/// types a part of the data; meets the ranks of its number at the peers, and serves rank 0, which alone has
/// run directory, ledger and log. Returns kDone. Throws ConfigError for what is wrong with job and party
/// file; what fails later ends the group (RankGroup::End).
int ServeJob(const RunOptions& options, RankGroup& group);

}  // namespace trefoil::runtime
