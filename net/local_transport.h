#pragma once
#include <array>
#include <chrono>
#include <memory>

#include "net/transport.h"

namespace trefoil::net {

/// Three connected in-process transports that serialise every message to bytes and parse it again, with the
/// frame checks of the network transport (net/link/frame.h). For tests and single-process tools: there is no
/// encryption. Receive throws NetworkError after `timeout` without a message.
[[nodiscard]] std::array<std::unique_ptr<Transport>, kParties> MakeLocalTransports(
    std::chrono::milliseconds timeout);

}  // namespace trefoil::net
