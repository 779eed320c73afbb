#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>

namespace trefoil::jobs {

/// The number of a party or a step in parsed JSON; one beyond an int counts as the largest, which is neither.
/// Throws nlohmann::json::exception unless it is whole and not negative: get() would convert any number, even
/// one beyond the range of its type.
[[nodiscard]] inline int NumberOf(const nlohmann::json& json) {
  const auto number = json.get_ref<const nlohmann::json::number_unsigned_t&>();
  return static_cast<int>(std::min<std::uint64_t>(number, std::numeric_limits<int>::max()));
}

}  // namespace trefoil::jobs
