#pragma once
#include <array>
#include <cstdint>
#include <filesystem>
#include <string>

#include "jobs/config/party_file.h"

namespace trefoil::apps {

/// Where a party's folder has the ONNX model of its features, if there is one.
inline constexpr const char* kFeatureModel = "data/features.onnx";

/// Where the first ranks of the three parties are reached: all at `base_port` where their hosts differ, else
/// party i at base_port + i * ranks. Throws ConfigError for a host or port that no address can have.
[[nodiscard]] std::array<jobs::Address, 3> AddressesOf(const std::array<std::string, 3>& hosts,
                                                       std::uint16_t base_port, int ranks = 1);

/// Free ports of 127.0.0.1 (net::FreeLoopbackPorts), one for each party's first rank.
[[nodiscard]] std::array<jobs::Address, 3> FreeLoopbackAddresses(int ranks = 1);

/// The party file of party `id` (0 to 2), with the file names of a party folder and no data. A party whose
/// host is a loopback address or "localhost" listens there only, any other on all interfaces.
[[nodiscard]] jobs::PartyFile DescribeParty(int id, const std::array<jobs::Address, 3>& addresses);

/// All three, of parties 0 to 2.
[[nodiscard]] std::array<jobs::PartyFile, 3> DescribeParties(const std::array<jobs::Address, 3>& addresses);

/// Of what a party folder's keys belong to.
struct Fingerprints {
  std::string certificate;
  std::string deposit_key;  ///< empty where the party takes no deposits
};

/// What a party needs to take deposits of owners, all of it in its folder.
[[nodiscard]] jobs::DepositSettings DepositsInFolder();

/// Makes a party folder: party.toml, a fresh party.key (mode 0600) and party.crt, and peers/; where the party
/// has [deposits], also a deposit key, deposit.key (mode 0600) and deposit.pub. Throws ConfigError if one of
/// these files is there already.
Fingerprints MakePartyFolder(const jobs::PartyFile& party, const std::filesystem::path& folder);

/// Makes FOLDER/party-0 to FOLDER/party-2, certificates already exchanged. Returns the fingerprints. Throws
/// likewise.
std::array<Fingerprints, 3> MakeAllPartyFolders(const std::array<jobs::PartyFile, 3>& parties,
                                                const std::filesystem::path& folder);

/// FOLDER/party-ID.
[[nodiscard]] std::filesystem::path PartyFolder(const std::filesystem::path& folder, int id);

}  // namespace trefoil::apps
