#pragma once
#include <memory>
#include <string>

#include "net/link/tls_context.h"
#include "net/mesh/mesh.h"
#include "net/start/handshake.h"

namespace trefoil::net {

/// Throws ConfigError unless the parties' ids are 0, 1 and 2, the time-outs positive and the job of an
/// acceptable length.
void CheckMeshConfig(const MeshConfig& config);

/// The TLS context that accepts exactly the two peers.
/// Throws ConfigError if a certificate or the key cannot be read or used, or two parties have the same
/// certificate.
[[nodiscard]] std::shared_ptr<const TlsContext> MakeTlsContext(const MeshConfig& config);

/// The TLS context that accepts exactly one peer.
[[nodiscard]] std::shared_ptr<const TlsContext> MakeTlsContextFor(const MeshConfig& config,
                                                                  const PeerEndpoint& peer);

/// This party's hello with a fresh nonce and the certificates that it knows the parties by. Throws
/// ConfigError if one cannot be read.
[[nodiscard]] Hello MakeHello(const MeshConfig& config, Purpose purpose);

void Log(const MeshConfig& config, const std::string& line);
void TellOfPeer(const MeshConfig& config, int peer, bool connected);

}  // namespace trefoil::net
