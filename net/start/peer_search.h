#pragma once
#include <array>
#include <functional>
#include <memory>
#include <string>

#include "net/mesh/mesh.h"
#include "net/start/dialer.h"
#include "net/start/listener.h"

namespace trefoil::net {

/// Looks for both peers: opens this party's port for those with larger numbers, and dials those with smaller
/// ones. On the I/O thread but for the constructor. Must outlive the I/O thread's last operation, and its
/// configuration it.
class PeerSearch {
 public:
  /// A secured channel; whether this party dialled.
  using FoundHandler = std::function<void(const std::shared_ptr<Channel>& channel, bool dialled)>;
  /// A peer that is dialled was not reached; it is tried again.
  using MissedHandler = std::function<void(int peer, const std::string& cause)>;

  /// Opens the port, if this party needs one. Throws ConfigError as ConnectMesh.
  PeerSearch(asio::io_context& io, const MeshConfig& config, const FoundHandler& on_found,
             const MissedHandler& on_missed);

  void Start();
  void Stop();
  /// Dials a peer again after a pause; nothing where it is the peer who dials.
  void DialLater(int peer);

 private:
  std::unique_ptr<Listener> listener_;
  std::array<std::unique_ptr<Dialer>, kParties> dialers_;
};

}  // namespace trefoil::net
