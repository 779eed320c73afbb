#pragma once

namespace trefoil {

/// The version of the library that is linked, as in "0.2.0". It is no protocol version: parties of two
/// releases may meet where CHANGELOG.md says so.
[[nodiscard]] const char* Version();

}  // namespace trefoil
