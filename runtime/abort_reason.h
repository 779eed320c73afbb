#pragma once
#include <exception>

#include "net/transport.h"

namespace trefoil::runtime {

/// What peers and auditors are told of an error: a code, and with it the party that it is about; never a
/// text.
[[nodiscard]] net::AbortReason ReasonFor(const std::exception& error);

/// Whether the same data and the same ledgers would be refused again: here, or at the peer that has said so.
[[nodiscard]] bool WouldBeRefusedAgain(const std::exception& error);

/// Tells both peers to stop, as net::Transport::Abort does, and why: by the exception that the calling thread
/// handles, where there is one.
void AbortWithReason(net::Transport& links) noexcept;

/// Runs `body`, which computes over the links, and returns what it returns. What it throws, the peers are
/// told by its reason before it goes on, so that they name who broke the protocol and not who found it. The
/// links are of no use then.
template <typename Body>
auto TellingPeers(net::Transport& links, const Body& body) -> decltype(body()) {
  try {
    return body();
  } catch (...) {
    AbortWithReason(links);
    throw;
  }
}

}  // namespace trefoil::runtime
