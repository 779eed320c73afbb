#include "base/files/scratch_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <string>
#include <utility>

#include "base/error.h"
#include "base/files/at_position.h"
#include "base/files/regular_file.h"
#include "base/files/sync_to_disk.h"
#include "base/threads/blocking_call.h"

namespace trefoil {

ScratchFile::ScratchFile(std::filesystem::path folder) : folder_(std::move(folder)) {
  const BlockingCall call("writing", folder_);
  descriptor_ = open(folder_.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (descriptor_ >= 0) return;
  // Not every file system has files without a name.
  auto name = (folder_ / "scratch-XXXXXX").string();
  descriptor_ = mkostemp(name.data(), O_CLOEXEC);  // mode 0600
  if (descriptor_ < 0) throw CannotWrite(folder_);
  if (unlink(name.c_str()) != 0) {
    const auto error = CannotWrite(name);
    close(descriptor_);
    throw error;
  }
}

ScratchFile::~ScratchFile() { close(descriptor_); }

void ScratchFile::Append(std::span<const std::uint8_t> bytes) {
  const BlockingCall call("writing", folder_);
  if (!WriteAt(descriptor_, size_, bytes)) throw CannotWrite(folder_);
  size_ += bytes.size();
}

void ScratchFile::Read(std::uint64_t position, std::span<std::uint8_t> bytes) const {
  const BlockingCall call("reading", folder_);
  if (ReadAt(descriptor_, position, bytes) < bytes.size())
    throw std::runtime_error(folder_.string() + ": cannot read what was written there: " +
                             (errno == 0 ? std::string("the file ends") : DescribeErrno(errno)));
}

void ScratchFile::Cut(std::uint64_t size) {
  Require(size <= size_, "ScratchFile: no more than there is");
  if (ftruncate(descriptor_, static_cast<off_t>(size)) != 0) throw CannotWrite(folder_);
  size_ = size;
}

}  // namespace trefoil
