#include "deposit/trusted_owners.h"

#include <spdlog/fmt/fmt.h>
#include <sys/stat.h>

#include <algorithm>

#include "base/error.h"
#include "base/files/files.h"

namespace trefoil::deposit {

namespace fs = std::filesystem;

namespace {

constexpr std::time_t kSettled = 2;  // seconds

std::vector<fs::path> KeyFilesIn(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".pub") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

std::vector<TrustedOwner> ReadTrustedOwners(const fs::path& folder) {
  if (!fs::exists(folder)) return {};
  std::vector<TrustedOwner> owners;
  for (const auto& file : KeyFilesIn(folder)) {
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

std::string NameOfOwner(const PublicKey& key, const std::vector<TrustedOwner>& owners) {
  const auto found =
      std::find_if(owners.begin(), owners.end(), [&](const TrustedOwner& owner) { return owner.key == key; });
  return found == owners.end() ? std::string() : found->name;
}

std::optional<std::string> StateOfTrustedOwners(const fs::path& folder, std::time_t now) {
  std::string state;
  const auto add = [&](const fs::path& file) {
    struct stat status {};
    if (stat(file.c_str(), &status) != 0 || status.st_ctim.tv_sec > now - kSettled) return false;
    state += fmt::format("{} {} {} {} {}.{} {}.{}\n", file.filename().string(), status.st_dev, status.st_ino,
                         status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec, status.st_ctim.tv_sec,
                         status.st_ctim.tv_nsec);
    return true;
  };
  try {
    if (!add(folder)) return {};
    for (const auto& file : KeyFilesIn(folder)) {
      if (!add(file)) return {};
    }
  } catch (const fs::filesystem_error&) {  // who reads the keys says so
    return {};
  }
  return state;
}

fs::path WriteTrustedOwner(const fs::path& folder, const TrustedOwner& owner) {
  fs::create_directories(folder);
  const auto file = folder / (owner.name + ".pub");
  WriteTextFile(file, PublicKeyText(KeyKind::kOwner, owner.key));
  return file;
}

}  // namespace trefoil::deposit
