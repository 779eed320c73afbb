#include "data/formats/positioned_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/secrets/sha256.h"
#include "base/threads/blocking_call.h"
#include "data/formats/file.h"

namespace trefoil::data {
namespace {

constexpr std::size_t kPieces = 64;
constexpr std::size_t kPieceBytes = 4096;

}  // namespace

// Read by position rather than mapped: the cache is the same, a file that is cut meanwhile ends in an error
// and not in a signal, and a limit on the address space (ulimit -v) does not count what is only read.
PositionedFile::PositionedFile(std::filesystem::path path)
    : path_(std::move(path)), descriptor_(open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
  struct stat status {};
  if (descriptor_ < 0 || fstat(descriptor_, &status) != 0 || !S_ISREG(status.st_mode)) {
    if (descriptor_ >= 0) close(descriptor_);
    ThrowDataError(path_, "", "a file that cannot be opened", "a readable file");
  }
  size_ = static_cast<std::size_t>(status.st_size);
}

PositionedFile::~PositionedFile() { close(descriptor_); }

void PositionedFile::Read(std::size_t offset, std::span<char> out) const {
  const BlockingCall call("reading", path_);
  std::size_t done = 0;
  while (done < out.size()) {
    const auto count =
        pread(descriptor_, out.data() + done, out.size() - done, static_cast<off_t>(offset + done));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      ThrowDataError(path_, "byte " + std::to_string(offset + done),
                     count == 0 ? "the end of the file" : std::strerror(errno),
                     std::to_string(size_) + " bytes, as when it was opened");
    }
    done += static_cast<std::size_t>(count);
  }
}

std::string PositionedFile::Head(std::size_t most) const {
  std::string head(std::min(size_, most), '\0');
  Read(0, head);
  return head;
}

std::string PositionedFile::Sample() const {
  struct stat status {};
  const std::size_t size =
      fstat(descriptor_, &status) == 0 ? static_cast<std::size_t>(status.st_size) : std::size_t{0};
  const std::size_t bytes = std::min(kPieceBytes, size);
  Sha256 hash;
  hash.Update(std::to_string(size) + "\n");
  std::string piece(bytes, '\0');
  for (std::size_t k = 0; k < kPieces; ++k) {
    Read((size - bytes) / (kPieces - 1) * k, piece);
    hash.Update(piece);
  }
  Read(size - bytes, piece);  // the division above may have left it out
  hash.Update(piece);
  return hash.Hex();
}

std::string SampleSha256(const std::filesystem::path& path) { return PositionedFile(path).Sample(); }

}  // namespace trefoil::data
