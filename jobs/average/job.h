#pragma once
#include <memory>
#include <string>

#include "jobs/config/toml_reader.h"
#include "jobs/job.h"

namespace trefoil::jobs {

/// A job of type "classifier-average": each owner trains a logistic regression, and what is released is their
/// average with noise, added on shares. Throws ConfigError with one line: place, key, what was found, what
/// was expected.
[[nodiscard]] std::unique_ptr<Job> ReadAverageJob(const toml::table& root, const std::string& file);

}  // namespace trefoil::jobs
