#pragma once
#include <string>
#include <string_view>

namespace trefoil {

/// SHA-256 of the bytes in lower-case hexadecimal. Source: FIPS 180-4.
[[nodiscard]] std::string Sha256Hex(std::string_view bytes);

}  // namespace trefoil
