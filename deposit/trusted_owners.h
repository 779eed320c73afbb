#pragma once
#include <ctime>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "deposit/keys.h"

namespace trefoil::deposit {

/// An owner whose deposits a party takes, by the name that the party gave it.
struct TrustedOwner {
  std::string name;
  PublicKey key;
};

/// All of a folder, which [deposits] of the party file names, by name: of each the file NAME.pub. None where
/// the folder is not there. Throws ConfigError naming a file that is no owner's public key, or holds the same
/// key as another.
[[nodiscard]] std::vector<TrustedOwner> ReadTrustedOwners(const std::filesystem::path& folder);

/// The name of the owner with that key; empty where none of these has it.
[[nodiscard]] std::string NameOfOwner(const PublicKey& key, const std::vector<TrustedOwner>& owners);

/// What the file system says of the folder and of each such file, without reading one: another text once a
/// file came, went, was replaced or was written in place. Nothing where the folder or a file is not there, or
/// one changed in the two seconds before `now` (seconds since 1970): within a tick of the file system's clock
/// the next change would not be seen.
[[nodiscard]] std::optional<std::string> StateOfTrustedOwners(const std::filesystem::path& folder,
                                                              std::time_t now);

/// Writes the file of one, in place of another of that name. Returns it.
std::filesystem::path WriteTrustedOwner(const std::filesystem::path& folder, const TrustedOwner& owner);

}  // namespace trefoil::deposit
