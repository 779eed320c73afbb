#pragma once
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "jobs/config/toml_reader.h"
#include "jobs/dpsgd/settings.h"

namespace trefoil::jobs {

/// The keys of [features], in full.
[[nodiscard]] const std::vector<std::string>& FeatureKeys();

/// Reads [features] for data as the spec declares it, every default filled in. Throws ConfigError where a key
/// is out of its domain, belongs to another method, or does not fit the data.
[[nodiscard]] FeatureSpec ReadFeatures(const Section& section, const data::DataSpec& data);

/// [features] as JSON: method and row_norm, and the keys of the method.
[[nodiscard]] nlohmann::json FeaturesJson(const FeatureSpec& features);

}  // namespace trefoil::jobs
