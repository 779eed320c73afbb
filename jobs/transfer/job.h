#pragma once
#include <memory>
#include <string>

#include "jobs/config/toml_reader.h"
#include "jobs/job.h"

namespace trefoil::jobs {

/// A job of type "ensemble-transfer": owners' classifiers label public rows, a classifier is trained on the
/// votes on shares, and released with noise. Throws ConfigError with one line: place, key, what was found,
/// what was expected.
[[nodiscard]] std::unique_ptr<Job> ReadTransferJob(const toml::table& root, const std::string& file);

}  // namespace trefoil::jobs
