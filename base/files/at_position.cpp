#include "base/files/at_position.h"

#include <unistd.h>

#include <cerrno>

namespace trefoil {

std::size_t ReadAt(int descriptor, std::uint64_t position, std::span<std::uint8_t> bytes) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const auto count =
        pread(descriptor, bytes.data() + done, bytes.size() - done, static_cast<off_t>(position + done));
    if (count < 0 && errno == EINTR) continue;
    if (count == 0) errno = 0;
    if (count <= 0) break;
    done += static_cast<std::size_t>(count);
  }
  return done;
}

bool WriteAt(int descriptor, std::uint64_t position, std::span<const std::uint8_t> bytes) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const auto count =
        pwrite(descriptor, bytes.data() + done, bytes.size() - done, static_cast<off_t>(position + done));
    if (count < 0 && errno == EINTR) continue;
    if (count == 0) errno = ENOSPC;
    if (count <= 0) return false;
    done += static_cast<std::size_t>(count);
  }
  return true;
}

}  // namespace trefoil
