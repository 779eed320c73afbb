#include "base/files/sync_to_disk.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <system_error>

#include "base/threads/blocking_call.h"

namespace trefoil {
std::system_error FileError(const std::filesystem::path& file, const char* what) {
  return {errno, std::generic_category(), file.string() + ": " + what};
}

std::system_error CannotWrite(const std::filesystem::path& file) {
  return FileError(file, "cannot be written");
}

void SyncToDisk(const std::filesystem::path& path) {
  const BlockingCall call("writing", path);
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) throw CannotWrite(path);
  const int status = fsync(descriptor);
  const auto error = CannotWrite(path);  // before another call changes errno
  close(descriptor);
  if (status != 0) throw error;
}

void SyncFolderOf(const std::filesystem::path& file) {
  SyncToDisk(file.has_parent_path() ? file.parent_path() : std::filesystem::path("."));
}

bool MakePrivateFolder(const std::filesystem::path& folder) {
  if (mkdir(folder.c_str(), 0700) != 0) return false;
  SyncFolderOf(folder);
  return true;
}

void PutInPlace(const std::filesystem::path& draft, const std::filesystem::path& file) {
  SyncToDisk(draft);
  const BlockingCall call("writing", file);
  if (std::rename(draft.c_str(), file.c_str()) != 0) throw CannotWrite(file);
  SyncFolderOf(file);
}

}  // namespace trefoil
