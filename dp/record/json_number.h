#pragma once
#include <cmath>
#include <nlohmann/json.hpp>

namespace trefoil::dp {

/// JSON has no infinity: an epsilon without a guarantee is null.
[[nodiscard]] inline nlohmann::ordered_json NumberOrNull(double value) {
  return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json(nullptr);
}

}  // namespace trefoil::dp
