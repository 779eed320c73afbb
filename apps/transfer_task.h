#pragma once
#include <memory>
#include <string>

#include "apps/task.h"
#include "apps/toml_reader.h"

namespace trefoil::apps {

/// A job of type "ensemble-transfer": owners' classifiers label public rows, a classifier is trained on the
/// votes on shares, and released with noise. Throws ConfigError with one line: place, key, what was found,
/// what was expected.
[[nodiscard]] std::unique_ptr<Task> ReadTransferTask(const toml::table& root, const std::string& file);

}  // namespace trefoil::apps
