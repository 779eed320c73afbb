#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "jobs/config/toml_reader.h"
#include "jobs/dpsgd/settings.h"
#include "ml/plan/settings.h"

namespace trefoil::jobs {

/// The keys of [initialisation], in full.
[[nodiscard]] const std::vector<std::string>& InitialisationKeys();

/// Reads [initialisation] with the fallbacks that `privacy` gives. Throws ConfigError as Section.
[[nodiscard]] InitialisationSpec ReadInitialisation(const Section& section, const PrivacySpec& privacy);

/// The table as it was read, defaults filled in.
[[nodiscard]] nlohmann::json InitialisationJson(const InitialisationSpec& initialisation);

/// What the training needs of it; nothing for method "none".
[[nodiscard]] std::optional<ml::InitialisationSettings> InitialisationOf(const InitialisationSpec& spec);

}  // namespace trefoil::jobs
