#include "net/mesh/mesh_config.h"

#include "base/error.h"
#include "base/secrets/random.h"
#include "net/certificates/pem.h"
#include "net/link/frame_reader.h"

namespace trefoil::net {

void CheckMeshConfig(const MeshConfig& config) {
  std::array<int, kParties> seen{};
  for (const int id : {config.self, config.peers[0].id, config.peers[1].id}) {
    if (id < 0 || id >= kParties)
      throw ConfigError("party id " + std::to_string(id) + ", 0, 1 or 2 expected");
    if (seen[static_cast<std::size_t>(id)]++ > 0) {
      throw ConfigError("party id " + std::to_string(id) + " twice, each of 0, 1 and 2 expected once");
    }
  }
  if (config.start_timeout.count() <= 0 || config.peer_timeout.count() <= 0 ||
      config.handshake_timeout.count() <= 0) {
    throw ConfigError("timeouts: more than 0 expected");
  }
  if (config.job_json.size() > FrameReader::kGreetingPayloadBytes) {
    throw ConfigError("job of " + std::to_string(config.job_json.size()) + " bytes, at most 1 MiB expected");
  }
}

std::shared_ptr<const TlsContext> MakeTlsContext(const MeshConfig& config) {
  std::vector<Pin> pins;
  Bytes own = ToDer(*ReadCertificate(config.identity.certificate_pem));
  for (const PeerEndpoint& peer : config.peers) {
    Bytes der = ToDer(*ReadCertificate(peer.certificate_pem));
    if (der == own || (!pins.empty() && pins.front().der == der)) {
      throw ConfigError("certificate of party " + std::to_string(peer.id) +
                        ": the same as another party's: store each one's own by trust");
    }
    pins.push_back({.party = peer.id, .der = std::move(der)});
  }
  return std::make_shared<const TlsContext>(config.identity, std::move(pins));
}

std::shared_ptr<const TlsContext> MakeTlsContextFor(const MeshConfig& config, const PeerEndpoint& peer) {
  std::vector<Pin> pins{{.party = peer.id, .der = ToDer(*ReadCertificate(peer.certificate_pem))}};
  return std::make_shared<const TlsContext>(config.identity, std::move(pins));
}

Hello MakeHello(const MeshConfig& config, Purpose purpose) {
  Hello hello;
  hello.sender = config.self;
  hello.purpose = purpose;
  FillRandom(hello.nonce);
  hello.job = HashJob(config.job_json);
  hello.ranks = config.ranks;
  hello.rank = config.rank;
  hello.pins.at(static_cast<std::size_t>(config.self)) = HashCertificate(config.identity.certificate_pem);
  for (const PeerEndpoint& peer : config.peers)
    hello.pins.at(static_cast<std::size_t>(peer.id)) = HashCertificate(peer.certificate_pem);
  return hello;
}

void Log(const MeshConfig& config, const std::string& line) {
  if (config.log) config.log(line);
}

void TellOfPeer(const MeshConfig& config, int peer, bool connected) {
  if (config.on_peer) config.on_peer(peer, connected);
}

}  // namespace trefoil::net
