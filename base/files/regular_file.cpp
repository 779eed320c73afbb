#include "base/files/regular_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/files/open_files.h"

namespace trefoil {

std::string WhatElse(unsigned mode) {
  if (S_ISREG(mode)) return {};
  if (S_ISDIR(mode)) return "is a folder";
  if (S_ISFIFO(mode)) return "is a named pipe";
  if (S_ISSOCK(mode)) return "is a socket";
  return "is a device";
}

std::string DescribeErrno(int error) {
  std::string text = std::strerror(error);
  if (error == EMFILE) text += ": found a limit of " + std::to_string(OpenFileLimit()) + " (ulimit -n)";
  return text;
}

// Looked at before it is opened, since to open a device may do something, and afterwards, since it may have
// been exchanged.
RegularFile::RegularFile(const std::filesystem::path& file) {
  struct stat status {};
  if (stat(file.c_str(), &status) != 0) {
    cause_ = DescribeErrno(errno);
    return;
  }
  cause_ = WhatElse(status.st_mode);
  if (!cause_.empty()) return;
  descriptor_ = open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor_ < 0 || fstat(descriptor_, &status) != 0) {
    cause_ = DescribeErrno(errno);
  } else {
    cause_ = WhatElse(status.st_mode);
  }
  if (!cause_.empty() && descriptor_ >= 0) close(Release());
  size_ = static_cast<std::uint64_t>(status.st_size);
}

RegularFile::~RegularFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

int RegularFile::Release() { return std::exchange(descriptor_, -1); }

}  // namespace trefoil
