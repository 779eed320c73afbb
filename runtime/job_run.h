#pragma once
#include "runtime/party_run.h"

namespace trefoil::runtime {

/// One party's side of a task (jobs/job.h), from its files to its run directory, which gets record.json
/// before anything is opened, then the task's results and summary.json. Errors as RunParty.
int RunJob(const RunOptions& options);

}  // namespace trefoil::runtime
