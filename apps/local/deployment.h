#pragma once
#include <array>
#include <cstdint>
#include <filesystem>
#include <string>

#include "jobs/config/party_file.h"

namespace trefoil::apps {

/// Where a party's folder has the ONNX model of its features, if there is one.
inline constexpr const char* kFeatureModel = "data/features.onnx";

/// Where the three parties are reached. Hosts that are all different share `base_port`; otherwise party i has
/// base_port + i.
[[nodiscard]] std::array<jobs::Address, 3> AddressesOf(const std::array<std::string, 3>& hosts,
                                                       std::uint16_t base_port);

/// The party file of party `id`, with the file names of a party folder and no data. A party whose host is
/// this machine's loopback listens there only, any other on all interfaces.
[[nodiscard]] jobs::PartyFile DescribeParty(int id, const std::array<jobs::Address, 3>& addresses);

/// All three, of parties 0 to 2.
[[nodiscard]] std::array<jobs::PartyFile, 3> DescribeParties(const std::array<jobs::Address, 3>& addresses);

/// Makes a party folder: party.toml, a fresh party.key (mode 0600) and party.crt, and peers/. Returns the
/// certificate's fingerprint. Throws ConfigError if one of the files is there already.
std::string MakePartyFolder(const jobs::PartyFile& party, const std::filesystem::path& folder);

/// Makes DIR/party-0 to DIR/party-2, certificates already exchanged. Throws as MakePartyFolder.
std::array<std::string, 3> MakeAllPartyFolders(const std::array<jobs::PartyFile, 3>& parties,
                                               const std::filesystem::path& folder);

/// DIR/party-I.
[[nodiscard]] std::filesystem::path PartyFolder(const std::filesystem::path& folder, int id);

}  // namespace trefoil::apps
