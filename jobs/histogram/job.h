#pragma once
#include <memory>
#include <string>

#include "jobs/config/toml_reader.h"
#include "jobs/job.h"

namespace trefoil::jobs {

/// A job of type "histogram": how many records of all owners have each of some public values, by reports that
/// each owner perturbs record by record (mode "local"), or by exact counts on shares with one noise (mode
/// "central"). Throws ConfigError with one line: place, key, what was found, what was expected.
[[nodiscard]] std::unique_ptr<Job> ReadHistogramJob(const toml::table& root, const std::string& file);

}  // namespace trefoil::jobs
