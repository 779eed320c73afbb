#pragma once
#include <string_view>
#include <vector>

#include "jobs/config/toml_reader.h"

namespace trefoil::jobs {

/// An array of different party numbers in ascending order; all three where the key is absent. Throws
/// ConfigError as Section, and for none where there must be one.
[[nodiscard]] std::vector<int> ReadParties(const Section& section, std::string_view key, bool none_allowed);

}  // namespace trefoil::jobs
