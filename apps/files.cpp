#include "apps/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <system_error>

#include "base/error.h"

namespace trefoil::apps {
namespace {

constexpr std::size_t kLargestSecret = std::size_t{1} << 16;

std::system_error CannotWrite(const std::filesystem::path& file) {
  return {errno, std::generic_category(), file.string() + ": cannot be written"};
}

void WriteAll(int descriptor, std::string_view text, const std::filesystem::path& file) {
  std::size_t done = 0;
  while (done < text.size()) {
    const auto count = write(descriptor, text.data() + done, text.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      const auto error = CannotWrite(file);
      close(descriptor);
      throw error;
    }
    done += static_cast<std::size_t>(count);
  }
  if (fsync(descriptor) != 0 || close(descriptor) != 0) throw CannotWrite(file);
}

void Replace(const std::filesystem::path& file, const std::string& text, mode_t mode) {
  auto draft = file;
  draft += ".part";
  // What is left of an interrupted draft may have another mode.
  if (unlink(draft.c_str()) != 0 && errno != ENOENT) throw CannotWrite(file);
  const int descriptor = open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  if (descriptor < 0) throw CannotWrite(file);
  try {
    WriteAll(descriptor, text, draft);
    if (rename(draft.c_str(), file.c_str()) != 0) throw CannotWrite(file);
  } catch (...) {
    unlink(draft.c_str());  // gives a full disk its room back
    throw;
  }
  SyncFolderOf(file);
}

}  // namespace

std::string ReadTextFile(const std::filesystem::path& file, const std::string& what) {
  errno = 0;
  std::ifstream stream(file, std::ios::binary);
  if (!stream || std::filesystem::is_directory(file)) {
    const auto* cause = errno == 0 ? "is no file" : std::strerror(errno);
    throw ConfigError(file.string() + ": " + cause + ", expected " + what);
  }
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

SecretText ReadSecretFile(const std::filesystem::path& file, const std::string& what) {
  const auto refuse = [&](const char* cause) {
    throw ConfigError(file.string() + ": " + cause + ", expected " + what);
  };
  const int descriptor = open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) refuse(std::strerror(errno));
  SecretText text(kLargestSecret + 1, '\0');
  std::size_t size = 0;
  ssize_t count = 1;
  while (count != 0 && size < text.size()) {
    count = read(descriptor, text.data() + size, text.size() - size);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) break;
    size += static_cast<std::size_t>(count);
  }
  const int error = errno;
  close(descriptor);
  if (count < 0) refuse(std::strerror(error));
  if (size > kLargestSecret) refuse("more than 64 KiB");
  return text.substr(0, size);
}

void WriteTextFile(const std::filesystem::path& file, const std::string& text) { Replace(file, text, 0644); }

void ReplaceSecretFile(const std::filesystem::path& file, const std::string& text) {
  Replace(file, text, 0600);
}

void SyncFolderOf(const std::filesystem::path& file) {
  const auto folder = file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
  const int descriptor = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) throw CannotWrite(folder);
  const int status = fsync(descriptor);
  close(descriptor);
  if (status != 0) throw CannotWrite(folder);
}

void WriteSecretFile(const std::filesystem::path& file, std::string_view text) {
  const int descriptor = open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (descriptor < 0 && errno == EEXIST)
    throw ConfigError(file.string() + ": exists already, and is not overwritten");
  if (descriptor < 0) throw CannotWrite(file);
  WriteAll(descriptor, text, file);
}

}  // namespace trefoil::apps
