#pragma once
#include <array>
#include <cstdint>

#include "jobs/config/party_file.h"

namespace trefoil::apps {

/// Three different TCP ports that nothing on 127.0.0.1 uses now. Another program may still take one before it
/// is used. Throws std::runtime_error if there are none.
[[nodiscard]] std::array<std::uint16_t, 3> FreeLoopbackPorts();

/// These ports of 127.0.0.1.
[[nodiscard]] std::array<jobs::Address, 3> FreeLoopbackAddresses();

}  // namespace trefoil::apps
