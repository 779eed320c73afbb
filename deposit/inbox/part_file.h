#pragma once
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>

#include "deposit/format/header.h"

namespace trefoil::deposit {

using PrefixSpan = std::span<const std::uint8_t, kPrefixBytes>;

/// A folder with what came of deposits that are not whole yet: of each the file ID.part, its prefix first.
/// One process at a time has it.
class PartFolder {
 public:
  /// How many parts of one owner may lie there, and how long one may to which nothing is added.
  static constexpr int kPerOwner = 4;
  static constexpr std::chrono::hours kKept{7 * 24};

  /// Makes the folder (mode 0700) where it is not there. Throws PassingError where another process has it.
  explicit PartFolder(std::filesystem::path folder);
  ~PartFolder();
  PartFolder(const PartFolder&) = delete;
  PartFolder& operator=(const PartFolder&) = delete;

  [[nodiscard]] std::filesystem::path FileOf(const Hash& id) const;
  /// How many bytes of the deposit are there behind its prefix; nothing where they are another file's, with
  /// another prefix that its owner signed.
  [[nodiscard]] std::optional<std::uint64_t> Received(const Hash& id, PrefixSpan prefix) const;
  /// Removes parts that lay too long; whether the owner may then begin another one.
  [[nodiscard]] bool MayBegin(const PublicKey& owner) const;

 private:
  std::filesystem::path folder_;
  int lock_ = -1;
};

/// Adds to such a file.
class PartWriter {
 public:
  /// Keeps the prefix and `received` bytes behind it, and drops what is there beyond; makes the file (mode
  /// 0600) where it is not there. Throws std::system_error where that cannot be done. Pre: so many bytes are
  /// there.
  PartWriter(const std::filesystem::path& file, PrefixSpan prefix, std::uint64_t received);
  ~PartWriter();
  PartWriter(const PartWriter&) = delete;
  PartWriter& operator=(const PartWriter&) = delete;

  void Write(std::span<const std::uint8_t> bytes);

 private:
  std::filesystem::path file_;
  std::uint64_t end_ = 0;
  int descriptor_ = -1;
};

}  // namespace trefoil::deposit
