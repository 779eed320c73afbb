#include "runtime/mesh_setup.h"

#include <spdlog/fmt/fmt.h>

#include "base/error.h"
#include "base/files/files.h"

namespace trefoil::runtime {
namespace {

jobs::Address AddressOfRank(const jobs::Address& first, const std::vector<jobs::Address>& of_ranks,
                            int rank) {
  if (!of_ranks.empty()) return of_ranks.at(static_cast<std::size_t>(rank));
  return {.host = first.host, .port = static_cast<std::uint16_t>(first.port + rank)};
}

}  // namespace

net::Identity ReadIdentity(const jobs::PartyFile& party) {
  jobs::CheckKeyMode(party.private_key);
  net::Identity identity{.certificate_pem = ReadTextFile(party.certificate, "this party's certificate"),
                         .private_key_pem = ReadSecretFile(party.private_key, "this party's private key")};
  bool matches = false;
  try {
    matches = net::KeyMatches(identity.certificate_pem, identity.private_key_pem);
  } catch (const ConfigError& error) {
    throw ConfigError(fmt::format("{} with {}: {}: make both anew with init, and exchange the certificate",
                                  party.certificate.string(), party.private_key.string(), error.what()));
  }
  if (!matches) {
    throw ConfigError(
        fmt::format("{}: found another certificate's key, expected the key of {}: make both anew with init",
                    party.private_key.string(), party.certificate.string()));
  }
  return identity;
}

net::MeshConfig MeshConfigOf(const jobs::PartyFile& party, const std::string& job_json, int rank) {
  net::MeshConfig config;
  config.self = party.id;
  config.listen_host = party.listen.host;
  config.listen_port = AddressOfRank(party.listen, {}, rank).port;
  config.ranks = party.ranks;
  config.rank = rank;
  config.identity = ReadIdentity(party);
  for (std::size_t i = 0; i < party.peers.size(); ++i) {
    const auto& peer = party.peers[i];
    const auto what = fmt::format("party {}'s certificate: store it with trefoil trust", peer.id);
    const auto address = AddressOfRank(peer.address, peer.rank_addresses, rank);
    config.peers[i] = {.id = peer.id,
                       .host = address.host,
                       .port = address.port,
                       .certificate_pem = ReadTextFile(peer.certificate, what)};
  }
  config.start_timeout = party.start_timeout;
  config.peer_timeout = party.peer_timeout;
  config.handshake_timeout = party.handshake_timeout;
  config.job_json = job_json;
  return config;
}

mpc::Prss AgreeOnSessionKeys(net::MeshTransport& mesh) {
  std::string label(mesh.session().begin(), mesh.session().end());
  label.append(mesh.job().begin(), mesh.job().end());
  return mpc::AgreeOnKeys(mesh, label);
}

}  // namespace trefoil::runtime
