#include "runtime/resume/chain_file.h"

#include <fcntl.h>
#include <spdlog/fmt/chrono.h>
#include <spdlog/fmt/fmt.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <ctime>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "base/error.h"
#include "base/files/at_position.h"
#include "base/files/files.h"
#include "base/files/regular_file.h"
#include "base/files/sync_to_disk.h"
#include "base/threads/blocking_call.h"
#include "jobs/config/party_file.h"

namespace trefoil::runtime {
namespace {

namespace fs = std::filesystem;

std::string ReadFrom(int descriptor, std::size_t first, const fs::path& file) {
  struct stat status {};
  if (fstat(descriptor, &status) != 0) throw FileError(file, "cannot be read");
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size > kLargestOwnFile)
    throw DataError(
        fmt::format("{}: found {} bytes, expected at most {}", file.string(), size, kLargestOwnFile));
  if (size < first) throw DataError(file.string() + ": became shorter while it was in use");
  std::string text(size - first, '\0');
  if (ReadAt(descriptor, first, {reinterpret_cast<std::uint8_t*>(text.data()), text.size()}) < text.size())
    throw FileError(file, "cannot be read");
  return text;
}

void WriteFrom(int descriptor, std::size_t offset, const std::string& text, const fs::path& file) {
  const std::span bytes(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
  if (!WriteAt(descriptor, offset, bytes) || fsync(descriptor) != 0) throw CannotWrite(file);
}

}  // namespace

ChainFile::Locked::Locked(const ChainFile& chain) : descriptor_(chain.descriptor_) {
  const BlockingCall call("locking", chain.file_);
  while (flock(descriptor_, chain.access_ == Access::kAppend ? LOCK_EX : LOCK_SH) != 0) {
    if (errno != EINTR) throw FileError(chain.file_, "cannot be locked");
  }
}

ChainFile::Locked::~Locked() { flock(descriptor_, LOCK_UN); }

ChainFile::ChainFile(fs::path file, Access access, std::string what)
    : file_(std::move(file)), access_(access) {
  const bool append = access == Access::kAppend;
  const bool fresh = append && !fs::exists(file_);
  const auto cause = append ? OpenToAppend() : OpenToRead();
  if (!cause.empty()) {
    throw ConfigError(fmt::format("{}: {}, expected {}{}", file_.string(), cause, what,
                                  append ? ", or a place to make one" : ""));
  }
  try {
    if (append) jobs::CheckSecretMode(file_, what);
    if (fresh) SyncFolderOf(file_);
  } catch (...) {
    close(descriptor_);
    throw;
  }
}

std::string ChainFile::OpenToRead() {
  RegularFile source(file_);
  descriptor_ = source.Release();
  return source.cause();
}

std::string ChainFile::OpenToAppend() {
  struct stat status {};
  descriptor_ = open(file_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
  if (descriptor_ < 0 || fstat(descriptor_, &status) != 0) return DescribeErrno(errno);
  const auto other = WhatElse(status.st_mode);
  if (!other.empty()) close(descriptor_);
  return other;
}

ChainFile::~ChainFile() { close(descriptor_); }

void ChainFile::RequireNotReplaced() const {
  struct stat named {};
  struct stat opened {};
  if (stat(file_.c_str(), &named) != 0 || fstat(descriptor_, &opened) != 0)
    throw FileError(file_, "was lost while it was in use");
  if (named.st_ino != opened.st_ino || named.st_dev != opened.st_dev)
    throw DataError(file_.string() + ": was replaced by another file while it was in use");
}

void ChainFile::Follow(const Apply& apply) {
  const BlockingCall call("reading", file_);
  if (access_ == Access::kAppend) RequireNotReplaced();
  const auto text = ReadFrom(descriptor_, bytes_, file_);
  try {
    const auto chain = dp::OpenChain(text, head_, lines_ + 1);
    for (const auto& line : chain.lines) {
      ++lines_;
      try {
        apply(line.content);
      } catch (const DataError& error) {
        throw DataError(fmt::format("line {}: {}", lines_, error.what()));
      }
      head_ = line.hash;
    }
    bytes_ += text.size() - chain.torn;
    torn_ = chain.torn;
    if (access_ == Access::kAppend) RepairEnd(chain.tail);
  } catch (const DataError& error) {
    throw DataError(fmt::format("{}: {}", file_.string(), error.what()));
  }
}

void ChainFile::RepairEnd(dp::Tail tail) {
  if (tail == dp::Tail::kWholeLine) {
    WriteFrom(descriptor_, bytes_, "\n", file_);
    ++bytes_;
  } else if (tail == dp::Tail::kTornLine &&
             (ftruncate(descriptor_, static_cast<off_t>(bytes_)) != 0 || fsync(descriptor_) != 0)) {
    throw FileError(file_, "cannot be cut");
  }
}

void ChainFile::Append(const nlohmann::json& content) { AppendAll({&content, 1}); }

void ChainFile::AppendAll(std::span<const nlohmann::json> contents) {
  const BlockingCall call("writing", file_);
  std::string text;
  auto head = head_;
  for (const auto& content : contents) {
    const auto line = dp::SealLine(content, head);
    head = dp::OpenLine(line, head).hash;
    text += line + "\n";
  }
  try {
    WriteFrom(descriptor_, bytes_, text, file_);
  } catch (...) {
    // What is left of one line would be taken for a torn one in any case; of several it would count.
    (void)!ftruncate(descriptor_, static_cast<off_t>(bytes_));
    throw;
  }
  head_ = std::move(head);
  lines_ += contents.size();
  bytes_ += text.size();
}

std::string TimeNow() { return fmt::format("{:%Y-%m-%dT%H:%M:%S}Z", fmt::gmtime(std::time(nullptr))); }

}  // namespace trefoil::runtime
