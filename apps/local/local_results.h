#pragma once
#include <filesystem>

#include "jobs/dpsgd/settings.h"
#include "runtime/observe/progress.h"
#include "runtime/run_directory.h"

namespace trefoil::apps {

/// After a run of three parties on this machine: copies the record, the progress and the released model from
/// their folders to the top of DIR, evaluates the model on DIR/test if there is one, writes summary.json, and
/// tells the user. Returns the summary.
/// Throws std::runtime_error if the parties' models differ, or a file is missing.
runtime::Summary CollectResults(const jobs::DpsgdSettings& job, const std::filesystem::path& folder,
                                const std::filesystem::path& feature_model,
                                runtime::ProgressDisplay& display);

}  // namespace trefoil::apps
