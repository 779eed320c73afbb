#pragma once
#include <cstdint>
#include <filesystem>
#include <string>

namespace trefoil {

/// A regular file, opened for reading. A pipe, a device, a socket or a folder is refused and never waited
/// for or read: it may have no end, and nobody may ever write to it.
class RegularFile {
 public:
  /// Where the file cannot be opened, `cause` says why: "No such file or directory", "is a named pipe".
  explicit RegularFile(const std::filesystem::path& file);
  ~RegularFile();
  RegularFile(const RegularFile&) = delete;
  RegularFile& operator=(const RegularFile&) = delete;

  /// Whether there is something to read.
  [[nodiscard]] explicit operator bool() const { return descriptor_ >= 0; }
  [[nodiscard]] const std::string& cause() const { return cause_; }
  /// Bytes, when it was opened.
  [[nodiscard]] std::uint64_t size() const { return size_; }
  /// The descriptor, which stays this object's; Release gives it away.
  [[nodiscard]] int descriptor() const { return descriptor_; }
  [[nodiscard]] int Release();

 private:
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
  std::string cause_;
};

/// What is not a regular file, in words, by its st_mode: "is a folder", "is a device". Empty for a regular
/// file.
[[nodiscard]] std::string WhatElse(unsigned mode);

/// Why the last call of the system failed, by its errno. Where it ran out of descriptors, the text names the
/// limit that was found.
[[nodiscard]] std::string DescribeErrno(int error);

}  // namespace trefoil
