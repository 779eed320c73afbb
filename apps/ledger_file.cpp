#include "apps/ledger_file.h"

#include <fcntl.h>
#include <spdlog/fmt/chrono.h>
#include <spdlog/fmt/fmt.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <ctime>
#include <nlohmann/json.hpp>
#include <system_error>

#include "apps/files.h"
#include "apps/party_file.h"
#include "base/error.h"

namespace trefoil::apps {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

/// Far behind any file's end: byte kFirstJobByte + N is locked while job N is under way.
constexpr off_t kFirstJobByte = off_t{1} << 40;

std::system_error Failed(const fs::path& file, const char* what) {
  return {errno, std::generic_category(), fmt::format("{}: {}", file.string(), what)};
}

/// An advisory lock on the whole file, which ends with the scope, or with the process.
class Locked {
 public:
  Locked(int descriptor, int kind, const fs::path& file) : descriptor_(descriptor) {
    while (flock(descriptor, kind) != 0) {
      if (errno != EINTR) throw Failed(file, "cannot be locked");
    }
  }
  ~Locked() { flock(descriptor_, LOCK_UN); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  int descriptor_;
};

/// Takes or gives back the lock of a job, or asks for who has it.
int JobLock(int descriptor, int command, short type, std::size_t job, struct flock& lock) {
  lock = {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = kFirstJobByte + static_cast<off_t>(job);
  lock.l_len = 1;
  return fcntl(descriptor, command, &lock);
}

bool HeldByAnother(int descriptor, std::size_t job, const fs::path& file) {
  struct flock lock {};
  if (JobLock(descriptor, F_OFD_GETLK, F_WRLCK, job, lock) != 0)
    throw Failed(file, "cannot be asked for locks");
  return lock.l_type != F_UNLCK;
}

std::string ReadFrom(int descriptor, std::size_t first, const fs::path& file) {
  struct stat status {};
  if (fstat(descriptor, &status) != 0) throw Failed(file, "cannot be read");
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size < first) throw DataError(file.string() + ": became shorter while it was in use");
  std::string text(size - first, '\0');
  for (std::size_t done = 0; done < text.size();) {
    const auto count =
        pread(descriptor, text.data() + done, text.size() - done, static_cast<off_t>(first + done));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) throw Failed(file, "cannot be read");
    done += static_cast<std::size_t>(count);
  }
  return text;
}

void WriteAt(int descriptor, std::size_t offset, const std::string& text, const fs::path& file) {
  for (std::size_t done = 0; done < text.size();) {
    const auto count =
        pwrite(descriptor, text.data() + done, text.size() - done, static_cast<off_t>(offset + done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw Failed(file, "cannot be written");
    done += static_cast<std::size_t>(count);
  }
  if (fsync(descriptor) != 0) throw Failed(file, "cannot be written");
}

/// Applies the lines of `text`, which begins with line `lines` + 1 after the hash `head`.
dp::Chain ApplyLines(const std::string& text, dp::Ledger& ledger, std::size_t& lines, std::string& head,
                     const fs::path& file) {
  try {
    auto chain = dp::OpenChain(text, head, lines + 1);
    for (const auto& line : chain.lines) {
      ++lines;
      try {
        ledger.Apply(line.content);
      } catch (const DataError& error) {
        throw DataError(fmt::format("line {}: {}", lines, error.what()));
      }
      head = line.hash;
    }
    return chain;
  } catch (const DataError& error) {
    throw DataError(fmt::format("{}: {}", file.string(), error.what()));
  }
}

std::string Now() { return fmt::format("{:%Y-%m-%dT%H:%M:%S}Z", fmt::gmtime(std::time(nullptr))); }

/// More digits than progress has: what is refused may be beyond the cap by little.
std::string Exactly(double epsilon) {
  return std::isfinite(epsilon) ? fmt::format("{:.6g}", epsilon) : "infinite";
}

/// Throws BudgetError or DataError where the request cannot be granted.
BudgetAnswer Answer(const dp::Ledger& ledger, const std::function<bool(std::size_t)>& may_be_alive,
                    const BudgetRequest& request, const fs::path& file) {
  if (!ledger.data().empty() && ledger.data() != request.data) {
    throw DataError(
        fmt::format("{}: found data of SHA-256 {}, expected {}: a ledger is of one data set; name another "
                    "file in [ledger], as docs/operations.md says",
                    file.string(), request.data, ledger.data()));
  }
  const BudgetAnswer answer{.spent = ledger.Spent(request.delta, may_be_alive).insider,
                            .alone = dp::Epsilons(request.record, request.delta).insider,
                            .after = ledger.Spent(request.delta, may_be_alive, &request.record).insider,
                            .head = {}};
  if (!(answer.after <= request.epsilon_cap)) {
    throw BudgetError(fmt::format(
        "{}: epsilon {} is spent, and with this job ({} alone) it would be {}, expected at most the cap {:g} "
        "(insider, delta {:g})",
        file.string(), Exactly(answer.spent), Exactly(answer.alone), Exactly(answer.after),
        request.epsilon_cap, request.delta));
  }
  return answer;
}

int OpenToRead(const fs::path& file) {
  const int descriptor = open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0)
    throw ConfigError(fmt::format("{}: {}, expected a ledger", file.string(), std::strerror(errno)));
  return descriptor;
}

/// Closes a file descriptor at the end of the scope.
struct Closing {
  int descriptor;
  ~Closing() { close(descriptor); }
};

}  // namespace

LedgerView ReadLedger(const fs::path& file) {
  if (fs::is_directory(file)) throw ConfigError(file.string() + ": is a folder, expected a ledger");
  const Closing closing{OpenToRead(file)};
  const Locked locked(closing.descriptor, LOCK_SH, file);
  LedgerView view{.ledger = {}, .may_be_alive = {}, .lines = 0, .head = dp::FirstPrevious(), .torn = 0};
  view.torn =
      ApplyLines(ReadFrom(closing.descriptor, 0, file), view.ledger, view.lines, view.head, file).torn;
  for (std::size_t job = 0; job < view.ledger.jobs().size(); ++job) {
    view.may_be_alive.push_back(!view.ledger.jobs()[job].ended &&
                                HeldByAnother(closing.descriptor, job, file));
  }
  return view;
}

BudgetAnswer AskLedger(const fs::path& file, const BudgetRequest& request) {
  if (!fs::exists(file)) return Answer({}, {}, request, file);
  CheckSecretMode(file, "a ledger");
  const auto view = ReadLedger(file);
  return Answer(
      view.ledger, [&](std::size_t job) { return view.may_be_alive[job]; }, request, file);
}

LedgerFile::LedgerFile(fs::path file) : file_(std::move(file)) {
  const bool fresh = !fs::exists(file_);
  descriptor_ = open(file_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (descriptor_ < 0) {
    throw ConfigError(fmt::format("{}: {}, expected a ledger, or a place to make one", file_.string(),
                                  std::strerror(errno)));
  }
  try {
    CheckSecretMode(file_, "a ledger");
    if (fresh) SyncFolderOf(file_);
  } catch (...) {
    close(descriptor_);
    throw;
  }
}

LedgerFile::~LedgerFile() { close(descriptor_); }

bool LedgerFile::MayBeAlive(std::size_t job) const {
  return own_ == job || HeldByAnother(descriptor_, job, file_);
}

void LedgerFile::Follow() {
  struct stat named {};
  struct stat opened {};
  if (stat(file_.c_str(), &named) != 0 || fstat(descriptor_, &opened) != 0)
    throw Failed(file_, "was lost while it was in use");
  if (named.st_ino != opened.st_ino || named.st_dev != opened.st_dev)
    throw DataError(file_.string() + ": was replaced by another file while it was in use");
  const auto text = ReadFrom(descriptor_, bytes_, file_);
  const auto chain = ApplyLines(text, ledger_, lines_, head_, file_);
  bytes_ += text.size() - chain.torn;
  if (chain.tail == dp::Tail::kWholeLine) {
    WriteAt(descriptor_, bytes_, "\n", file_);
    ++bytes_;
  } else if (chain.tail == dp::Tail::kTornLine &&
             (ftruncate(descriptor_, static_cast<off_t>(bytes_)) != 0 || fsync(descriptor_) != 0)) {
    throw Failed(file_, "cannot be cut");
  }
}

void LedgerFile::Append(const Json& entry) {
  dp::Ledger next = ledger_;
  next.Apply(entry);
  const auto line = dp::SealLine(entry, head_) + "\n";
  try {
    WriteAt(descriptor_, bytes_, line, file_);
  } catch (...) {
    // What is left of the line would be taken for a torn one in any case.
    (void)!ftruncate(descriptor_, static_cast<off_t>(bytes_));
    throw;
  }
  ledger_ = std::move(next);
  head_ = dp::OpenLine(std::string_view(line).substr(0, line.size() - 1), head_).hash;
  ++lines_;
  bytes_ += line.size();
}

void LedgerFile::SettleDead(const std::string& time) {
  for (std::size_t job = 0; job < ledger_.jobs().size(); ++job) {
    const auto one = ledger_.jobs()[job];
    if (one.ended || MayBeAlive(job)) continue;
    Append(dp::Ledger::SettleEntry(one.announced, dp::JobEnd::kDied, one.delta, time));
  }
}

BudgetAnswer LedgerFile::Reserve(const BudgetRequest& request) {
  Require(!own_, "LedgerFile::Reserve: one job at a time");
  const auto time = Now();
  const Locked locked(descriptor_, LOCK_EX, file_);
  Follow();
  if (const auto known = ledger_.JobOf(request.record.run_id); known && MayBeAlive(*known)) {
    throw ConfigError(fmt::format("{}: found run {} under way in another process, expected it to have ended",
                                  file_.string(), request.record.run_id));
  }
  auto answer = Answer(
      ledger_, [&](std::size_t job) { return MayBeAlive(job); }, request, file_);
  SettleDead(time);
  if (ledger_.data().empty()) Append(dp::Ledger::DataEntry(request.data));
  const auto known = ledger_.JobOf(request.record.run_id);
  const std::size_t job = known.value_or(ledger_.jobs().size());
  struct flock lock {};
  if (JobLock(descriptor_, F_OFD_SETLK, F_WRLCK, job, lock) != 0)
    throw Failed(file_, "cannot be locked for a job");
  const dp::LedgerJob entry{.time = time,
                            .name = request.name,
                            .delta = request.delta,
                            .epsilon_cap = request.epsilon_cap,
                            .reserved = request.record,
                            .announced = request.before,
                            .executed = {}};
  Append(known ? dp::Ledger::ResumeEntry(entry) : dp::Ledger::ReserveEntry(entry));
  own_ = job;
  answer.head = head_;
  return answer;
}

void LedgerFile::Announce(const dp::TrainingRecord& record) {
  Require(own_.has_value(), "LedgerFile::Announce: after Reserve");
  const Locked locked(descriptor_, LOCK_EX, file_);
  Follow();
  Append(dp::Ledger::AnnounceEntry(record));
}

std::string LedgerFile::Settle(const dp::TrainingRecord& record, dp::JobEnd ended) {
  Require(own_.has_value(), "LedgerFile::Settle: after Reserve");
  const Locked locked(descriptor_, LOCK_EX, file_);
  Follow();
  Append(dp::Ledger::SettleEntry(record, ended, ledger_.jobs()[*own_].delta, Now()));
  struct flock lock {};
  (void)JobLock(descriptor_, F_OFD_SETLK, F_UNLCK, *own_, lock);  // nobody asks for a job that has ended
  own_.reset();
  return head_;
}

void LedgerFile::Stop() {
  if (own_) (void)Settle(dp::TrainingRecord(ledger_.jobs()[*own_].announced), dp::JobEnd::kStopped);
}

}  // namespace trefoil::apps
