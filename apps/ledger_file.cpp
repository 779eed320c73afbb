#include "apps/ledger_file.h"

#include <fcntl.h>
#include <spdlog/fmt/fmt.h>

#include <cerrno>
#include <cmath>
#include <nlohmann/json.hpp>
#include <system_error>

#include "apps/party_file.h"
#include "base/error.h"
#include "base/outward_text.h"
#include "base/passing_error.h"

namespace trefoil::apps {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

/// Far behind any file's end: byte kFirstJobByte + N is locked while job N is under way.
constexpr off_t kFirstJobByte = off_t{1} << 40;

std::system_error Failed(const fs::path& file, const char* what) {
  return {errno, std::generic_category(), fmt::format("{}: {}", file.string(), what)};
}

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

/// More digits than progress has: what is refused may be beyond the cap by little.
std::string Exactly(double epsilon) { return std::isfinite(epsilon) ? DigitsAbove(epsilon, 6) : "infinite"; }

/// Throws BudgetError or DataError where the request cannot be granted.
BudgetAnswer Answer(const dp::Ledger& ledger, const std::function<bool(std::size_t)>& may_be_alive,
                    const BudgetRequest& request, const fs::path& file) {
  if (!ledger.data().empty() && ledger.data() != request.data) {
    throw DataError(fmt::format(
        "{}: found data of SHA-256 {}, expected {}: a ledger is of one data set: name its files in "
        "[data], or another file in [ledger], as docs/operations.md says",
        file.string(), request.data, ledger.data()));
  }
  BudgetAnswer answer{.spent = ledger.Spent(request.delta, may_be_alive).insider,
                      .alone = dp::Epsilons(request.record, request.delta).insider,
                      .after = ledger.Spent(request.delta, may_be_alive, &request.record).insider,
                      .head = {}};
  if (!(answer.after <= request.epsilon_cap)) {
    throw BudgetError(fmt::format(
        "{}: epsilon {} is spent, and with this job ({} alone) it would be {}, expected at most the cap {:g} "
        "(insider, delta {})",
        file.string(), Exactly(answer.spent), Exactly(answer.alone), Exactly(answer.after),
        request.epsilon_cap, DigitsAbove(request.delta, 6)));
  }
  return answer;
}

/// Refuses a run that goes on from an old copy: what it executed since would not be charged.
void RequireNewest(const dp::LedgerJob& job, const BudgetRequest& request, const fs::path& file) {
  const auto counted = dp::StepsIn(request.before);
  if (counted >= job.certain_steps) return;
  throw ConfigError(fmt::format(
      "{}: found run {} resumed after {} steps, expected at least the {} that it executed: all three "
      "have an old copy of its checkpoint folder; bring back the newest, or begin a new run",
      file.string(), request.record.run_id, counted, job.certain_steps));
}

}  // namespace

LedgerView ReadLedger(const fs::path& file) {
  ChainFile chain(file, ChainFile::Access::kRead, "a ledger");
  const ChainFile::Locked locked(chain);
  LedgerView view;
  chain.Follow([&](const Json& entry) { view.ledger.Apply(entry); });
  view.lines = chain.lines();
  view.head = chain.head();
  view.torn = chain.torn();
  for (std::size_t job = 0; job < view.ledger.jobs().size(); ++job) {
    view.may_be_alive.push_back(!view.ledger.jobs()[job].ended &&
                                HeldByAnother(chain.descriptor(), job, file));
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

LedgerFile::LedgerFile(fs::path file) : chain_(std::move(file), ChainFile::Access::kAppend, "a ledger") {}

bool LedgerFile::MayBeAlive(std::size_t job) const {
  return own_ == job || HeldByAnother(chain_.descriptor(), job, chain_.file());
}

void LedgerFile::Follow() {
  chain_.Follow([&](const Json& entry) { ledger_.Apply(entry); });
}

void LedgerFile::Append(const Json& entry) {
  dp::Ledger next = ledger_;
  next.Apply(entry);
  chain_.Append(entry);
  ledger_ = std::move(next);
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
  const auto time = TimeNow();
  const ChainFile::Locked locked(chain_);
  Follow();
  const auto known = ledger_.JobOf(request.record.run_id);
  if (known && MayBeAlive(*known)) {
    throw PassingError(fmt::format("{}: found run {} under way in another process, expected it to have ended",
                                   chain_.file().string(), request.record.run_id));
  }
  if (known) RequireNewest(ledger_.jobs()[*known], request, chain_.file());
  auto answer = Answer(
      ledger_, [&](std::size_t job) { return MayBeAlive(job); }, request, chain_.file());
  SettleDead(time);
  if (ledger_.data().empty()) Append(dp::Ledger::DataEntry(request.data));
  const std::size_t job = known.value_or(ledger_.jobs().size());
  struct flock lock {};
  if (JobLock(chain_.descriptor(), F_OFD_SETLK, F_WRLCK, job, lock) != 0)
    throw Failed(chain_.file(), "cannot be locked for a job");
  const dp::LedgerJob entry{.time = time,
                            .name = request.name,
                            .delta = request.delta,
                            .epsilon_cap = request.epsilon_cap,
                            .reserved = request.record,
                            .announced = request.before,
                            .executed = {}};
  Append(known ? dp::Ledger::ResumeEntry(entry) : dp::Ledger::ReserveEntry(entry));
  own_ = job;
  answer.head = chain_.head();
  return answer;
}

void LedgerFile::Announce(const dp::TrainingRecord& record) {
  Require(own_.has_value(), "LedgerFile::Announce: after Reserve");
  const ChainFile::Locked locked(chain_);
  Follow();
  Append(dp::Ledger::AnnounceEntry(record));
}

std::string LedgerFile::Settle(const dp::TrainingRecord& record, dp::JobEnd ended) {
  Require(own_.has_value(), "LedgerFile::Settle: after Reserve");
  const ChainFile::Locked locked(chain_);
  Follow();
  Append(dp::Ledger::SettleEntry(record, ended, ledger_.jobs()[*own_].delta, TimeNow()));
  struct flock lock {};
  (void)JobLock(chain_.descriptor(), F_OFD_SETLK, F_UNLCK, *own_,
                lock);  // nobody asks for a job that has ended
  own_.reset();
  return chain_.head();
}

void LedgerFile::Stop() {
  if (own_) (void)Settle(dp::TrainingRecord(ledger_.jobs()[*own_].announced), dp::JobEnd::kStopped);
}

}  // namespace trefoil::apps
