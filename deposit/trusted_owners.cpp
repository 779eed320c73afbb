#include "deposit/trusted_owners.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

#include "base/error.h"
#include "base/files.h"

namespace trefoil::deposit {

namespace fs = std::filesystem;

std::vector<TrustedOwner> ReadTrustedOwners(const fs::path& folder) {
  if (!fs::exists(folder)) return {};
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".pub") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::vector<TrustedOwner> owners;
  for (const auto& file : files) {
    const auto key = ReadPublicKey(KeyKind::kOwner, file);
    for (const auto& other : owners) {
      if (other.key == key)
        throw ConfigError(
            fmt::format("{}: found the key of {}, expected another owner's: delete one of the two files",
                        file.string(), other.name));
    }
    owners.push_back({.name = file.stem().string(), .key = key});
  }
  return owners;
}

fs::path WriteTrustedOwner(const fs::path& folder, const TrustedOwner& owner) {
  fs::create_directories(folder);
  const auto file = folder / (owner.name + ".pub");
  WriteTextFile(file, PublicKeyText(KeyKind::kOwner, owner.key));
  return file;
}

}  // namespace trefoil::deposit
