#include "jobs/files/sealed_file.h"

#include <spdlog/fmt/fmt.h>

#include <utility>

#include "base/error.h"
#include "base/files/files.h"
#include "base/length_prefix.h"
#include "base/secrets/sealed_box.h"

namespace trefoil::jobs {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr std::size_t kLargestHeader = std::size_t{1} << 24;

std::span<const std::uint8_t> BytesOf(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

/// The length of all that stands before the sealed part.
std::size_t PrefixLength(const fs::path& file, const SealedKind& kind, std::string_view text) {
  const std::size_t begin = kind.magic.size() + kLengthBytes;
  const bool known = text.starts_with(kind.magic) || (!kind.older.empty() && text.starts_with(kind.older));
  if (text.size() < begin || !known)
    RefuseSealed(file, "another file", fmt::format("{} of this version", kind.what));
  const auto length = LengthIn(text.substr(kind.magic.size()));
  if (length > kLargestHeader || length > text.size() - begin)
    RefuseSealed(file, "an incomplete file", std::string(kind.what));
  return begin + length;
}

Json HeaderIn(const fs::path& file, const SealedKind& kind, std::string_view prefix) {
  auto json = Json::parse(prefix.substr(kind.magic.size() + kLengthBytes), nullptr, false);
  if (!json.is_object()) RefuseSealed(file, "a damaged header", std::string(kind.what));
  return json;
}

}  // namespace

SecretBytes::~SecretBytes() { Wipe(std::span(bytes_)); }

SecretKey StorageKey(const PartyFile& party, const SealedKind& kind) {
  const auto& file = party.storage_key.empty() ? party.private_key : party.storage_key;
  const std::string what =
      "the key that shares are sealed with: correct storage.key, or make it, of 32 random bytes";
  CheckSecretMode(file, what);
  const auto text = ReadSecretFile(file, what);
  if (text.size() < SecretKey::kBytes) {
    throw ConfigError(fmt::format("{}: found {} bytes, expected a secret of at least {}: make it anew",
                                  file.string(), text.size(), SecretKey::kBytes));
  }
  return DeriveKey(BytesOf(text), kind.purpose);
}

std::string SealFile(const SealedKind& kind, const Json& header, std::span<const std::uint8_t> secret,
                     const SecretKey& key) {
  const auto prefix = std::string(kind.magic) + WithLength(header.dump());
  const auto sealed = Seal(key, prefix, secret);
  return prefix + std::string(sealed.begin(), sealed.end());
}

SecretBytes OpenSealed(const fs::path& file, const SealedKind& kind, const SecretKey& key,
                       const std::function<void(const Json& header)>& check) {
  CheckSecretMode(file, std::string(kind.what));
  const auto text = ReadTextFile(file, std::string(kind.what), kLargestOwnFile);
  const auto prefix = std::string_view(text).substr(0, PrefixLength(file, kind, text));
  check(HeaderIn(file, kind, prefix));
  auto secret = Unseal(key, prefix, BytesOf(std::string_view(text).substr(prefix.size())));
  if (!secret) {
    throw DataError(
        file.string() +
        ": cannot be opened: it was changed, or this party's storage key is not the one that sealed it");
  }
  return SecretBytes(std::move(*secret));
}

void RefuseSealed(const fs::path& file, const std::string& found, const std::string& expected) {
  throw DataError(fmt::format("{}: found {}, expected {}", file.string(), found, expected));
}

}  // namespace trefoil::jobs
