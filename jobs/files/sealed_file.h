#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/secrets/secure_memory.h"
#include "jobs/config/party_file.h"

namespace trefoil::jobs {

/// Bytes that are wiped when they die. Not copyable.
class SecretBytes {
 public:
  SecretBytes() = default;
  explicit SecretBytes(std::vector<std::uint8_t> bytes) : bytes_(std::move(bytes)) {}
  SecretBytes(SecretBytes&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}
  SecretBytes& operator=(SecretBytes&& other) noexcept {
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~SecretBytes();

  [[nodiscard]] std::span<const std::uint8_t> bytes() const { return bytes_; }

 private:
  std::vector<std::uint8_t> bytes_;
};

/// What kind of sealed file it is.
struct SealedKind {
  std::string_view magic;    ///< its first line
  std::string_view purpose;  ///< what its key is derived for
  std::string_view what;     ///< as in "expected a model's share"
  std::string_view older{};  ///< the first line of an earlier version that is read, too, of the same length
};

/// The key that this party's files of a kind are sealed with: derived from the file of its party file's
/// [storage] key. Throws ConfigError unless that is a file that its owner alone can read.
[[nodiscard]] SecretKey StorageKey(const PartyFile& party, const SealedKind& kind);

/// The bytes of a file with a secret, and a header in the clear that is part of the seal: magic line, length
/// of the header in eight bytes, header as compact JSON, sealed part.
[[nodiscard]] std::string SealFile(const SealedKind& kind, const nlohmann::json& header,
                                   std::span<const std::uint8_t> secret, const SecretKey& key);

/// The secret of a sealed file. `check` sees the header before, not yet authenticated, and may refuse it with
/// an error of its own: whose file it is, which its key would not say. Throws ConfigError if the file is not
/// there or others can read it; DataError naming the file if it is of another kind or incomplete, was
/// changed, or sealed with another key.
[[nodiscard]] SecretBytes OpenSealed(const std::filesystem::path& file, const SealedKind& kind,
                                     const SecretKey& key,
                                     const std::function<void(const nlohmann::json& header)>& check);

/// Throws DataError "FILE: found X, expected Y".
[[noreturn]] void RefuseSealed(const std::filesystem::path& file, const std::string& found,
                               const std::string& expected);

}  // namespace trefoil::jobs
