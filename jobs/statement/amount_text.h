#pragma once
#include <cstdint>
#include <string>

namespace trefoil::jobs {

/// "12.3 MB", "950 B".
[[nodiscard]] std::string BytesText(std::uint64_t bytes);
/// "0.4 s", "47 s", "3 min 20 s".
[[nodiscard]] std::string SecondsText(double seconds);

}  // namespace trefoil::jobs
