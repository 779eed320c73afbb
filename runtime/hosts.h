#pragma once
#include <array>
#include <cstdint>
#include <string>

namespace trefoil::runtime {

inline constexpr std::uint16_t kDefaultBasePort = 7700;

/// The hosts of "a,b,c", none with a port. Throws ConfigError "--hosts: found X, expected ...".
[[nodiscard]] std::array<std::string, 3> ParseHosts(const std::string& text);

}  // namespace trefoil::runtime
