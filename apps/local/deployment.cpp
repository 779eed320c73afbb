#include "apps/local/deployment.h"

#include <set>
#include <stdexcept>

#include "base/error.h"
#include "base/files/files.h"
#include "deposit/keys.h"
#include "net/certificates/certificate.h"
#include "net/start/free_ports.h"

namespace trefoil::apps {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPartyFile = "party.toml";

std::string PeerCertificate(int id) { return "peers/party-" + std::to_string(id) + ".crt"; }

/// Where a party with this host listens: on loopback alone if the others reach it there, else on all
/// interfaces.
std::string ListenHost(const std::string& host) {
  if (host == "localhost") return "127.0.0.1";
  if (host.starts_with("127.") || host == "::1") return host;
  return host.find(':') == std::string::npos ? "0.0.0.0" : "::";
}

}  // namespace

std::array<jobs::Address, 3> FreeLoopbackAddresses(int ranks) {
  const auto ports = net::FreeLoopbackPorts(ranks);
  return {jobs::Address{"127.0.0.1", ports[0]}, jobs::Address{"127.0.0.1", ports[1]},
          jobs::Address{"127.0.0.1", ports[2]}};
}

std::array<jobs::Address, 3> AddressesOf(const std::array<std::string, 3>& hosts, std::uint16_t base_port,
                                         int ranks) {
  const bool all_differ = std::set(hosts.begin(), hosts.end()).size() == hosts.size();
  std::array<jobs::Address, 3> addresses;
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    const auto each = static_cast<unsigned>(ranks);
    const auto port = base_port + (all_differ ? 0U : each * static_cast<unsigned>(i));
    const auto most = UINT16_MAX + 1U - each * (all_differ ? 1U : 3U);
    if (base_port > most)
      throw ConfigError("--base-port: found " + std::to_string(base_port) + ", expected at most " +
                        std::to_string(most));
    addresses[i] = {.host = hosts[i], .port = static_cast<std::uint16_t>(port)};
    (void)jobs::ParseAddress(ToText(addresses[i]));
  }
  return addresses;
}

jobs::PartyFile DescribeParty(int id, const std::array<jobs::Address, 3>& addresses) {
  jobs::PartyFile party;
  party.id = id;
  party.advertise = addresses[static_cast<std::size_t>(id)];
  party.listen = {.host = ListenHost(party.advertise.host), .port = party.advertise.port};
  std::size_t next = 0;
  for (int peer = 0; peer < 3; ++peer) {
    if (peer == id) continue;
    party.peers[next++] = {.id = peer,
                           .address = addresses[static_cast<std::size_t>(peer)],
                           .certificate = PeerCertificate(peer)};
  }
  return party;
}

std::array<jobs::PartyFile, 3> DescribeParties(const std::array<jobs::Address, 3>& addresses) {
  return {DescribeParty(0, addresses), DescribeParty(1, addresses), DescribeParty(2, addresses)};
}

jobs::DepositSettings DepositsInFolder() {
  return {.key = "deposit.key", .owners = "owners", .store = "deposits"};
}

Fingerprints MakePartyFolder(const jobs::PartyFile& party, const fs::path& folder) {
  for (const auto& name : {fs::path(kPartyFile), party.private_key, party.certificate}) {
    if (fs::exists(folder / name)) {
      throw ConfigError((folder / name).string() +
                        ": exists already, and is not overwritten; choose another --out");
    }
  }
  Fingerprints made;
  if (party.deposits) {
    const auto pair = deposit::MakeKeyPair(deposit::KeyKind::kParty);
    deposit::WriteKeyPair(deposit::KeyKind::kParty, pair, folder);
    made.deposit_key = deposit::Fingerprint(deposit::KeyKind::kParty, pair.known);
  }
  fs::create_directories(folder / "peers");
  const auto identity = net::MakeIdentity("party-" + std::to_string(party.id));
  WriteSecretFile(folder / party.private_key, identity.private_key_pem);
  WriteTextFile(folder / party.certificate, identity.certificate_pem);
  WriteTextFile(folder / kPartyFile, jobs::PartyToml(party));
  made.certificate = net::Fingerprint(identity.certificate_pem);
  return made;
}

std::array<Fingerprints, 3> MakeAllPartyFolders(const std::array<jobs::PartyFile, 3>& parties,
                                                const fs::path& folder) {
  std::array<Fingerprints, 3> fingerprints;
  for (std::size_t i = 0; i < parties.size(); ++i) {
    fingerprints[i] = MakePartyFolder(parties[i], PartyFolder(folder, parties[i].id));
  }
  for (const auto& from : parties) {
    const auto certificate = ReadTextFile(PartyFolder(folder, from.id) / from.certificate, "a certificate");
    for (const auto& to : parties) {
      if (to.id != from.id) WriteTextFile(PartyFolder(folder, to.id) / PeerCertificate(from.id), certificate);
    }
  }
  return fingerprints;
}

fs::path PartyFolder(const fs::path& folder, int id) { return folder / ("party-" + std::to_string(id)); }

}  // namespace trefoil::apps
