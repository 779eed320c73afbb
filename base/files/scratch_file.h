#pragma once
#include <cstdint>
#include <filesystem>
#include <span>

namespace trefoil {

/// A file that has no name, for what does not fit into memory: gone with this object, or the process. Nothing
/// is protected by that: the disk keeps what was written until it writes there again, so that secrets are
/// sealed before.
class ScratchFile {
 public:
  /// Makes it in a folder. Throws std::runtime_error where it cannot be made.
  explicit ScratchFile(std::filesystem::path folder);
  ~ScratchFile();
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;

  /// Bytes that it has.
  [[nodiscard]] std::uint64_t size() const { return size_; }
  /// Writes behind what is there. Throws std::runtime_error where it cannot: the disk is full.
  void Append(std::span<const std::uint8_t> bytes);
  /// Reads from a position on. Throws std::runtime_error where so many are not there.
  void Read(std::uint64_t position, std::span<std::uint8_t> bytes) const;
  /// Gives back what is behind the first `size` bytes. Pre: so many are there.
  void Cut(std::uint64_t size);

 private:
  std::filesystem::path folder_;  // which errors name
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
};

}  // namespace trefoil
