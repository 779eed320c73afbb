#include "base/files/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <span>
#include <system_error>

#include "base/error.h"
#include "base/files/regular_file.h"
#include "base/files/sync_to_disk.h"
#include "base/threads/blocking_call.h"

namespace trefoil {
namespace {

constexpr std::size_t kLargestSecret = std::size_t{1} << 16;

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
  const BlockingCall call("writing", file);
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

/// Fills `out` as far as the file goes: how many bytes, or -1 with errno.
std::ptrdiff_t ReadInto(const RegularFile& file, std::span<char> out) {
  std::size_t done = 0;
  while (done < out.size()) {
    const auto count = read(file.descriptor(), out.data() + done, out.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return -1;
    if (count == 0) break;
    done += static_cast<std::size_t>(count);
  }
  return static_cast<std::ptrdiff_t>(done);
}

}  // namespace

std::string ReadTextFile(const std::filesystem::path& file, const std::string& what, std::uint64_t most) {
  const auto refuse = [&](const std::string& cause) {
    throw ConfigError(file.string() + ": " + cause + ", expected " + what);
  };
  const BlockingCall call("reading", file);
  const RegularFile source(file);
  if (!source) refuse(source.cause());
  if (source.size() > most)
    refuse("found " + std::to_string(source.size()) + " bytes, which are more than " + std::to_string(most));
  std::string text(static_cast<std::size_t>(source.size()), '\0');
  const auto count = ReadInto(source, std::span(text));
  if (count < 0) refuse(DescribeErrno(errno));
  text.resize(static_cast<std::size_t>(count));
  return text;
}

SecretText ReadSecretFile(const std::filesystem::path& file, const std::string& what) {
  const auto refuse = [&](const std::string& cause) {
    throw ConfigError(file.string() + ": " + cause + ", expected " + what);
  };
  const RegularFile source(file);
  if (!source) refuse(source.cause());
  SecretText text(kLargestSecret + 1, '\0');
  const auto count = ReadInto(source, std::span(text));
  if (count < 0) refuse(DescribeErrno(errno));
  if (static_cast<std::size_t>(count) > kLargestSecret) refuse("more than 64 KiB");
  return text.substr(0, static_cast<std::size_t>(count));
}

void WriteTextFile(const std::filesystem::path& file, const std::string& text) { Replace(file, text, 0644); }

void ReplaceSecretFile(const std::filesystem::path& file, const std::string& text) {
  Replace(file, text, 0600);
}

void WriteSecretFile(const std::filesystem::path& file, std::string_view text) {
  const BlockingCall call("writing", file);
  const int descriptor = open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (descriptor < 0 && errno == EEXIST)
    throw ConfigError(file.string() + ": exists already, and is not overwritten");
  if (descriptor < 0) throw CannotWrite(file);
  WriteAll(descriptor, text, file);
  SyncFolderOf(file);
}

}  // namespace trefoil
