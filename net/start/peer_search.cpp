#include "net/start/peer_search.h"

#include "net/mesh/mesh_config.h"

namespace trefoil::net {

PeerSearch::PeerSearch(asio::io_context& io, const MeshConfig& config, const FoundHandler& on_found,
                       const MissedHandler& on_missed) {
  const auto tls = MakeTlsContext(config);
  if (config.self < kParties - 1) {
    std::vector<std::string> expected;
    for (const PeerEndpoint& peer : config.peers) {
      if (peer.id > config.self) expected.push_back(peer.host);
    }
    listener_ = std::make_unique<Listener>(io, config, expected, tls,
                                           [on_found](const auto& channel) { on_found(channel, false); });
  }
  for (const PeerEndpoint& peer : config.peers) {
    if (peer.id > config.self) continue;
    dialers_.at(static_cast<std::size_t>(peer.id)) = std::make_unique<Dialer>(
        io, peer, MakeTlsContextFor(config, peer), config.handshake_timeout,
        [on_found](const auto& channel) { on_found(channel, true); },
        [on_missed, id = peer.id](Dialer::Stage, const std::string& cause) { on_missed(id, cause); });
  }
}

void PeerSearch::Start() {
  if (listener_) listener_->Start();
  for (const auto& dialer : dialers_) {
    if (dialer) dialer->Dial();
  }
}

void PeerSearch::Stop() {
  if (listener_) listener_->Stop();
  for (const auto& dialer : dialers_) {
    if (dialer) dialer->Stop();
  }
}

void PeerSearch::DialLater(int peer) {
  if (const auto& dialer = dialers_.at(static_cast<std::size_t>(peer))) dialer->DialLater();
}

}  // namespace trefoil::net
