#pragma once
#include <array>
#include <cstdint>

namespace trefoil::net {

/// Three different TCP ports that nothing on 127.0.0.1 uses now, for parties of one machine. They lie between
/// 20000 and 31999, below those that the system gives to whoever connects; so another program takes one
/// before it is used only where it looks for ports as well. `ranks`: as many are free from each on, that one
/// included. Throws std::runtime_error if there are none.
[[nodiscard]] std::array<std::uint16_t, 3> FreeLoopbackPorts(int ranks = 1);

}  // namespace trefoil::net
