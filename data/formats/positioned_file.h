#pragma once
#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

namespace trefoil::data {

/// A regular file that is read by position, by several threads at once if they like (docs/adr/0018).
class PositionedFile {
 public:
  /// Throws DataError where it cannot be opened, or is something else.
  explicit PositionedFile(std::filesystem::path path);
  ~PositionedFile();
  PositionedFile(const PositionedFile&) = delete;
  PositionedFile& operator=(const PositionedFile&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  /// In bytes, when it was opened.
  [[nodiscard]] std::size_t size() const { return size_; }
  /// SampleSha256 of what it holds now.
  [[nodiscard]] std::string Sample() const;

  /// Throws DataError unless there are as many bytes at `offset`.
  void Read(std::size_t offset, std::span<char> out) const;
  /// The first `most` bytes, or as many as there are.
  [[nodiscard]] std::string Head(std::size_t most) const;

 private:
  std::filesystem::path path_;
  int descriptor_;
  std::size_t size_ = 0;
};

/// SHA-256, in hexadecimal, of a file's size and of 64 pieces of 4 KiB that are spread over it, its first and
/// last bytes among them, in a time that does not grow with it. Tells apart files that are of different
/// records, but not those that differ between the pieces: of a large file one stretch of up to a 63rd of it,
/// or most sets of rows that were corrected in place. Throws DataError where it cannot be read.
[[nodiscard]] std::string SampleSha256(const std::filesystem::path& path);

}  // namespace trefoil::data
