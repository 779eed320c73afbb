#pragma once
#include <memory>
#include <string>

#include "apps/task.h"
#include "apps/toml_reader.h"

namespace trefoil::apps {

/// A job of type "classifier-average": each owner trains a logistic regression, and what is released is their
/// average with noise, added on shares. Throws ConfigError with one line: place, key, what was found, what
/// was expected.
[[nodiscard]] std::unique_ptr<Task> ReadAverageTask(const toml::table& root, const std::string& file);

}  // namespace trefoil::apps
