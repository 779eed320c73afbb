#pragma once
#include <memory>
#include <string>

#include "apps/task.h"
#include "apps/toml_reader.h"

namespace trefoil::apps {

/// A job of type "histogram": how many records of all owners have each of some public values, by reports that
/// each owner perturbs record by record (mode "local"), or by exact counts on shares with one noise (mode
/// "central"). Throws ConfigError with one line: place, key, what was found, what was expected.
[[nodiscard]] std::unique_ptr<Task> ReadHistogramTask(const toml::table& root, const std::string& file);

}  // namespace trefoil::apps
