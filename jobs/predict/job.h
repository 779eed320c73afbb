#pragma once
#include <memory>
#include <string>

#include "jobs/config/toml_reader.h"
#include "jobs/job.h"

namespace trefoil::jobs {

/// A job of type "predict": a model in shares, which another run made, classifies rows of one party. The job charges
/// nothing: the record of that run covers it. Throws ConfigError with one line: place, key, what was found,
/// what was expected.
[[nodiscard]] std::unique_ptr<Job> ReadPredictJob(const toml::table& root, const std::string& file);

}  // namespace trefoil::jobs
