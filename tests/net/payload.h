#pragma once
#include "net/transport.h"

namespace trefoil::net::testing_support {

/// A message of that many bytes, where it does not matter which.
inline Bytes OfSize(std::size_t size) { return Bytes(size, std::byte{1}); }

}  // namespace trefoil::net::testing_support
