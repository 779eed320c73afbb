#pragma once
#include <memory>
#include <string>

#include "jobs/config/toml_reader.h"
#include "jobs/job.h"

namespace trefoil::jobs {

/// A job of type "pate": teachers that the parties trained on disjoint data, by whatever means, answer public
/// queries by noisy votes on shares. Throws ConfigError with one line: place, key, what was found, what was
/// expected.
[[nodiscard]] std::unique_ptr<Job> ReadPateJob(const toml::table& root, const std::string& file);

}  // namespace trefoil::jobs
