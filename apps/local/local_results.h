#pragma once
#include <filesystem>

#include "jobs/job.h"
#include "runtime/observe/progress.h"

namespace trefoil::apps {

/// After a run of three parties on this machine: copies what the first of those who get the results got
/// (party 0 where nobody does) to the top of DIR, adds to its summary what only others know, evaluates a
/// released model on DIR/test if there is one, writes summary.json, and tells the
/// user.
/// Throws std::runtime_error if the parties' results differ, or a file is missing.
void CollectResults(const jobs::Job& job, const std::filesystem::path& folder,
                    runtime::ProgressDisplay& display, jobs::JobTypes types);

}  // namespace trefoil::apps
