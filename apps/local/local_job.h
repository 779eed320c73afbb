#pragma once
#include "apps/local/local_run.h"

namespace trefoil::apps {

/// Tries a task with three parties on this machine: results of the first party that gets them, summary.json
/// and record.json at the top of the run directory. Errors as RunLocal.
int RunLocalJob(const LocalOptions& options);

}  // namespace trefoil::apps
