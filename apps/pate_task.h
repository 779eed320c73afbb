#pragma once
#include <memory>
#include <string>

#include "apps/task.h"
#include "apps/toml_reader.h"

namespace trefoil::apps {

/// A job of type "pate": teachers that the parties trained on disjoint data, by whatever means, answer public
/// queries by noisy votes on shares. Throws ConfigError with one line: place, key, what was found, what was
/// expected.
[[nodiscard]] std::unique_ptr<Task> ReadPateTask(const toml::table& root, const std::string& file);

}  // namespace trefoil::apps
