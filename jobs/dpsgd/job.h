#pragma once
#include <memory>
#include <string>

#include "jobs/config/toml_reader.h"
#include "jobs/job.h"

namespace trefoil::jobs {

/// A job of type "dpsgd": a model trained by secure DP-SGD (ml/dpsgd/training.h), in steps, from checkpoints where it
/// has some. Throws ConfigError with one line: place, key, what was found, what was expected.
[[nodiscard]] std::unique_ptr<Job> ReadDpsgdJob(const toml::table& root, const std::string& file);

/// The job of these settings.
[[nodiscard]] std::unique_ptr<Job> MakeDpsgdJob(DpsgdSettings settings);

}  // namespace trefoil::jobs
