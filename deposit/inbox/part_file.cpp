#include "deposit/inbox/part_file.h"

#include <fcntl.h>
#include <spdlog/fmt/fmt.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "base/files/regular_file.h"
#include "base/files/sync_to_disk.h"
#include "base/passing_error.h"
#include "base/secrets/sha256.h"
#include "base/threads/blocking_call.h"
#include "deposit/read_deposit.h"

namespace trefoil::deposit {
namespace {

namespace fs = std::filesystem;

/// Gives parts of an earlier version, ID.part, the names that they have now.
void RenameParts(const PartFolder& parts, const fs::path& folder) {
  constexpr std::size_t kDigits = 2 * sizeof(Hash);
  std::error_code stays;  // then it is begun anew
  for (const auto& entry : fs::directory_iterator(folder, stays)) {
    if (entry.path().stem().string().size() != kDigits) continue;
    if (const auto prefix = PrefixIn(RegularFile(entry.path())))
      fs::rename(entry.path(), parts.FileOf(DecodePrefix(*prefix)), stays);
  }
}

}  // namespace

PartFolder::PartFolder(fs::path folder) : folder_(std::move(folder)) {
  if (mkdir(folder_.c_str(), 0700) != 0 && errno != EEXIST) throw CannotWrite(folder_);
  lock_ = open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (lock_ < 0) throw CannotWrite(folder_);
  if (flock(lock_, LOCK_EX | LOCK_NB) != 0) {
    close(lock_);
    throw PassingError(folder_.string() + ": found another inbox at work there, expected none");
  }
  RenameParts(*this, folder_);
}

PartFolder::~PartFolder() { close(lock_); }

fs::path PartFolder::FileOf(const Prefix& prefix) const {
  return folder_ / fmt::format("{}-{}.part", ToHex(prefix.id), ToHex(prefix.owner));
}

std::uint64_t PartFolder::Received(PrefixSpan prefix) const {
  const RegularFile file(FileOf(DecodePrefix(prefix)));
  const auto found = PrefixIn(file);
  if (!found) return 0;  // also where a killed inbox had not written all of it
  return std::equal(prefix.begin(), prefix.end(), found->begin()) ? file.size() - prefix.size() : 0;
}

bool PartFolder::MayBegin(const PublicKey& owner) const {
  int count = 0;
  for (const auto& entry : fs::directory_iterator(folder_)) {
    std::error_code gone;
    const auto last = fs::last_write_time(entry.path(), gone);
    if (!gone && last < fs::file_time_type::clock::now() - kKept) {
      fs::remove(entry.path(), gone);
      continue;
    }
    const auto prefix = PrefixIn(RegularFile(entry.path()));
    if (prefix && DecodePrefix(*prefix).owner == owner) ++count;
  }
  return count < kPerOwner;
}

PartWriter::PartWriter(const fs::path& file, PrefixSpan prefix, std::uint64_t received)
    : file_(file), descriptor_(open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600)) {
  if (descriptor_ < 0) throw CannotWrite(file_);
  try {
    Write(prefix);
    end_ += received;
    if (ftruncate(descriptor_, static_cast<off_t>(end_)) != 0) throw CannotWrite(file_);
  } catch (...) {
    close(descriptor_);
    throw;
  }
}

PartWriter::~PartWriter() { close(descriptor_); }

void PartWriter::Write(std::span<const std::uint8_t> bytes) {
  const BlockingCall call("writing", file_);
  while (!bytes.empty()) {
    const auto count = pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(end_));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw CannotWrite(file_);
    end_ += static_cast<std::uint64_t>(count);
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
}

}  // namespace trefoil::deposit
