#pragma once
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <span>

#include "deposit/format/header.h"

namespace trefoil::deposit {

using PrefixSpan = std::span<const std::uint8_t, kPrefixBytes>;

/// A folder with what came of deposits that are not whole yet: of each the file ID-OWNER.part, its prefix
/// first. An owner may sign another one's id; so each has its own part. One process at a time has it.
class PartFolder {
 public:
  /// How many parts of one owner may lie there, and how long one may to which nothing is added.
  static constexpr int kPerOwner = 4;
  static constexpr std::chrono::hours kKept{7 * 24};

  /// Makes the folder (mode 0700) where it is not there; parts that are named by the id alone, as before, get
  /// their owner's. Throws PassingError where another process has it.
  explicit PartFolder(std::filesystem::path folder);
  ~PartFolder();
  PartFolder(const PartFolder&) = delete;
  PartFolder& operator=(const PartFolder&) = delete;

  [[nodiscard]] std::filesystem::path FileOf(const Prefix& prefix) const;
  /// How many bytes of the file with this prefix are there behind it; 0 where there are another file's. These
  /// do not bar it: of a prefix the owner has signed neither the party nor the lengths, so that who has seen
  /// another party's may write one.
  [[nodiscard]] std::uint64_t Received(PrefixSpan prefix) const;
  /// Removes parts that lay too long; whether the owner may then begin another one.
  [[nodiscard]] bool MayBegin(const PublicKey& owner) const;

 private:
  std::filesystem::path folder_;
  int lock_ = -1;
};

/// Adds to such a file, or begins it anew.
class PartWriter {
 public:
  /// Writes the prefix, keeps `received` bytes behind it, and drops what is there beyond; makes the file (mode
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
