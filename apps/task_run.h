#pragma once
#include "apps/local_run.h"
#include "apps/party_run.h"

namespace trefoil::apps {

/// One party's side of a task (apps/task.h), from its files to its run directory, which gets record.json
/// before anything is opened, then the task's results and summary.json. Errors as RunParty.
int RunTask(const RunOptions& options);

/// Tries a task with three parties on this machine: results of the first party that gets them, summary.json
/// and record.json at the top of the run directory. Errors as RunLocal.
int RunLocalTask(const LocalOptions& options);

}  // namespace trefoil::apps
