#include "runtime/ledger/ledger_file.h"

#include <fcntl.h>
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <variant>

#include "base/error.h"
#include "base/files/sync_to_disk.h"
#include "base/outward_text.h"
#include "base/passing_error.h"
#include "jobs/config/party_file.h"
#include "jobs/statement/bound_text.h"

namespace trefoil::runtime {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

/// Far behind any file's end: byte kFirstJobByte + N is locked while job N is under way.
constexpr off_t kFirstJobByte = off_t{1} << 40;

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
    throw FileError(file, "cannot be asked for locks");
  return lock.l_type != F_UNLCK;
}

/// Throws ConfigError where the ledger is another population's.
void RequireSamePopulation(const dp::Ledger& ledger, const std::optional<PopulationClaim>& claim,
                           const fs::path& file) {
  if (!claim || ledger.population().empty() || ledger.population() == claim->population) return;
  throw ConfigError(fmt::format("{}: found population \"{}\" asked for, expected \"{}\", whose ledger it is",
                                file.string(), claim->population, ledger.population()));
}

/// No hash of data in what it throws: a party's log and status page have it, whose readers could try guesses.
void RequireSameData(const dp::Ledger& ledger, const std::string& data,
                     const std::optional<PopulationClaim>& claim, const fs::path& file) {
  RequireSamePopulation(ledger, claim, file);
  if (ledger.data().empty() || ledger.IsOf(data)) return;
  const auto& population = claim ? claim->population : ledger.population();
  if (!population.empty())
    throw DataError(
        fmt::format("{}: found data that was not declared to be of population \"{}\": if whoever is in it "
                    "may be in that population's other files, run: trefoil ledger declare, or Party.declare "
                    "of Python; else name another population and file in [ledger]",
                    file.string(), population));
  throw DataError(
      fmt::format("{}: found other data than the ledger's: a ledger is of one data set: name its files in "
                  "[data], or another file in [ledger], as docs/howto/operations.md says",
                  file.string()));
}

/// The filter of the ledger, or that which a new one gets. Throws ConfigError where it is not the one asked
/// for.
dp::FilterTerms TermsFor(const dp::Ledger& ledger, const BudgetRequest& request, const fs::path& file) {
  if (!ledger.terms()) {
    const auto mode = request.mode.value_or(dp::FilterMode::kRdp);
    if (!ledger.data().empty() && mode != dp::FilterMode::kRdp)
      throw ConfigError(
          fmt::format("{}: is of version 1, whose jobs go on by mode \"rdp\" only, found \"{}\"",
                      file.string(), dp::NameOf(mode)));
    return dp::MakeFilterTerms(mode, request.delta);
  }
  const auto& terms = *ledger.terms();
  if (request.mode && *request.mode != terms.mode) {
    throw ConfigError(
        fmt::format("{}: found mode \"{}\" asked for, expected \"{}\", which was fixed when it was opened",
                    file.string(), dp::NameOf(*request.mode), dp::NameOf(terms.mode)));
  }
  if (request.delta != terms.delta) {
    throw ConfigError(
        fmt::format("{}: found delta {} asked for, expected {}, which was fixed when it was opened",
                    file.string(), request.delta, terms.delta));  // in all digits: they may differ by little
  }
  return terms;
}

/// Throws BudgetError where a closed ledger has no such job, or no more of it, to execute.
void RequireEntered(const dp::Ledger& ledger, const BudgetRequest& request, const fs::path& file) {
  auto record = request.record;
  if (record.run_id.empty()) record.run_id.push_back('0');
  if (ledger.EntryFor(record)) return;
  throw BudgetError(fmt::format(
      "{}: is closed, and found no entry for all of job {}, expected one that no run has executed: a closed "
      "ledger's jobs are entered before the first result (trefoil ledger enter), steps that may be lost "
      "included",
      file.string(), request.name));
}

std::string RefusalText(const BudgetAnswer& answer, const BudgetRequest& request,
                        const dp::FilterTerms& terms, double failures, const fs::path& file) {
  if (answer.after <= request.epsilon_cap || !std::isfinite(failures) || failures <= terms.delta_cut)
    return fmt::format(
        "{}: epsilon {} is spent, and with this job ({} alone) it would be {}, expected at most the cap {} "
        "(insider, delta {})",
        file.string(), jobs::CloseEpsilonText(answer.spent), jobs::CloseEpsilonText(answer.alone),
        jobs::CloseEpsilonText(answer.after), request.epsilon_cap, DigitsAbove(request.delta, 6));
  return fmt::format(
      "{}: batches cut at their limits would take {} of delta at the cap {}, expected at most "
      "the {} that the ledger has for them",
      file.string(), DigitsAbove(failures, 3), request.epsilon_cap, DigitsAbove(terms.delta_cut, 3));
}

/// What all that is charged and `more` come to. Throws BudgetError beyond the cap.
BudgetAnswer WithinCap(const dp::Ledger& ledger, const std::function<bool(std::size_t)>& may_be_alive,
                       const BudgetRequest& request, const dp::TrainingRecord* more, const fs::path& file) {
  const auto terms = TermsFor(ledger, request, file);
  const auto after = ledger.InsiderFilter(terms, may_be_alive, more);
  dp::PrivacyFilter alone(terms);
  alone.Add(dp::FilterCharges(request.record, true));
  const BudgetAnswer answer{.spent = ledger.InsiderFilter(terms, may_be_alive).Epsilon(),
                            .alone = alone.Epsilon(),
                            .after = after.Epsilon(),
                            .head = {}};
  if (!after.Allows(request.epsilon_cap))
    throw BudgetError(RefusalText(answer, request, terms, after.FailuresAt(request.epsilon_cap), file));
  return answer;
}

/// Throws BudgetError, ConfigError or DataError where the request cannot be granted.
BudgetAnswer Answer(const dp::Ledger& ledger, const std::function<bool(std::size_t)>& may_be_alive,
                    const BudgetRequest& request, const fs::path& file) {
  RequireSameData(ledger, request.data, request.population, file);
  const bool closed = TermsFor(ledger, request, file).mode == dp::FilterMode::kClosed;
  if (closed) RequireEntered(ledger, request, file);
  // What was entered in a closed ledger is charged already.
  return WithinCap(ledger, may_be_alive, request, closed ? nullptr : &request.record, file);
}

/// Releases of a record that are no steps.
std::int64_t OtherReleases(const dp::TrainingRecord& record) {
  return std::count_if(record.events.begin(), record.events.end(),
                       [](const auto& event) { return !std::holds_alternative<dp::DpSgdSteps>(event); });
}

/// Refuses a run that goes on from an old copy: what it executed since would not be charged.
void RequireNewest(const dp::LedgerJob& job, const BudgetRequest& request, const fs::path& file) {
  if (dp::IsWithin(job.certain, request.before)) return;
  const auto steps = dp::StepsIn(request.before);
  const auto min_steps = dp::StepsIn(job.certain);
  const auto releases = OtherReleases(request.before);
  const auto min_releases = OtherReleases(job.certain);
  if (steps >= min_steps && releases >= min_releases) {
    throw ConfigError(fmt::format(
        "{}: found run {} resumed with other noise or batches than it was executed with: go on with the "
        "version of the program that it began with, or begin a new run",
        file.string(), request.record.run_id));
  }
  throw ConfigError(fmt::format(
      "{}: found run {} resumed after {} steps and {} other releases, expected at least the {} steps and {} "
      "other releases that it executed: all three have an old copy of its checkpoint folder; bring back the "
      "newest, or begin a new run",
      file.string(), request.record.run_id, steps, releases, min_steps, min_releases));
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
  if (const auto& claim = request.population) {
    const KnownRecords records(file);
    records.RequireNone(records.Compare(*claim));
  }
  if (!fs::exists(file)) return Answer({}, {}, request, file);
  jobs::CheckSecretMode(file, "a ledger");
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

void LedgerFile::Append(const std::vector<Json>& entries) {
  if (entries.empty()) return;
  dp::Ledger next = ledger_;
  for (const auto& entry : entries) next.Apply(entry);
  chain_.AppendAll(entries);
  ledger_ = std::move(next);
}

void LedgerFile::SettleDead(const std::string& time) {
  for (std::size_t job = 0; job < ledger_.jobs().size(); ++job) {
    const auto one = ledger_.jobs()[job];
    if (one.ended || MayBeAlive(job)) continue;
    Append({dp::Ledger::SettleEntry(one.announced, dp::JobEnd::kDied, one.delta, time)});
  }
}

std::vector<Json> LedgerFile::Beginning(const std::string& data, const dp::FilterTerms& terms,
                                        const std::optional<PopulationClaim>& population) {
  // First of all: what is refused leaves the ledger as it is, and a record that is known without a ledger's
  // line is asked about once too often, not once too little.
  if (population && !population->known) KnownRecords(chain_.file()).Enter(*population);
  std::vector<Json> entries;
  if (ledger_.data().empty()) {
    entries.push_back(dp::Ledger::DataEntry(data, terms));
  } else if (!ledger_.terms()) {
    entries.push_back(dp::Ledger::FilterEntry(terms));
  }
  if (population && !ledger_.IsDeclared(data))
    entries.push_back(dp::Ledger::PopulationEntry(
        {.time = TimeNow(), .sha256 = data, .equal_by_chance = population->by_chance},
        population->population));
  return entries;
}

void LedgerFile::Open(const std::string& data, const dp::FilterTerms& terms,
                      const std::optional<PopulationClaim>& population) {
  const ChainFile::Locked locked(chain_);
  Follow();
  RequireSameData(ledger_, data, population, chain_.file());
  if (!ledger_.data().empty())
    throw ConfigError(chain_.file().string() +
                      ": found a ledger, expected none: its filter is fixed for good");
  Append(Beginning(data, terms, population));
}

bool LedgerFile::Declare(const BudgetRequest& request) {
  const ChainFile::Locked locked(chain_);
  Follow();
  RequireSamePopulation(ledger_, request.population, chain_.file());
  if (ledger_.population().empty() && !ledger_.data().empty() && request.data != ledger_.data())
    throw ConfigError(
        fmt::format("{}: found a ledger that has jobs and no population, expected its own data declared "
                    "first, so that its records are known",
                    chain_.file().string()));
  const bool fresh = !ledger_.IsDeclared(request.data);
  Append(Beginning(request.data, TermsFor(ledger_, request, chain_.file()), request.population));
  return fresh;
}

BudgetAnswer LedgerFile::Enter(const std::vector<BudgetRequest>& jobs) {
  const ChainFile::Locked locked(chain_);
  Follow();
  if (!ledger_.jobs().empty())
    throw ConfigError(chain_.file().string() +
                      ": found jobs that have begun, expected all entered before the first result");
  dp::Ledger next = ledger_;
  std::vector<Json> entries;
  BudgetAnswer answer;
  for (auto request : jobs) {
    request.mode = dp::FilterMode::kClosed;
    RequireSameData(next, request.data, request.population, chain_.file());
    const auto terms = TermsFor(next, request, chain_.file());
    if (next.data().empty()) next.Apply(dp::Ledger::DataEntry(request.data, terms));
    const auto before = answer.spent;
    answer = WithinCap(next, {}, request, &request.record, chain_.file());
    if (!entries.empty()) answer.spent = before;
    entries.push_back(dp::Ledger::EnterEntry(
        {.time = TimeNow(), .name = request.name, .record = request.record}, request.delta));
    next.Apply(entries.back());
  }
  auto all = Beginning(jobs.front().data, *next.terms(), jobs.front().population);
  all.insert(all.end(), entries.begin(), entries.end());
  Append(all);
  answer.head = chain_.head();
  return answer;
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
  Append(Beginning(request.data, TermsFor(ledger_, request, chain_.file()), request.population));
  SettleDead(time);
  const std::size_t job = known.value_or(ledger_.jobs().size());
  struct flock lock {};
  if (JobLock(chain_.descriptor(), F_OFD_SETLK, F_WRLCK, job, lock) != 0)
    throw FileError(chain_.file(), "cannot be locked for a job");
  const dp::LedgerJob entry{.time = time,
                            .name = request.name,
                            .delta = request.delta,
                            .epsilon_cap = request.epsilon_cap,
                            .reserved = request.record,
                            .announced = request.before,
                            .executed = {}};
  Append({known ? dp::Ledger::ResumeEntry(entry) : dp::Ledger::ReserveEntry(entry)});
  own_ = job;
  answer.head = chain_.head();
  return answer;
}

void LedgerFile::Announce(const dp::TrainingRecord& record) {
  Require(own_.has_value(), "LedgerFile::Announce: after Reserve");
  const ChainFile::Locked locked(chain_);
  Follow();
  Append({dp::Ledger::AnnounceEntry(record)});
}

std::string LedgerFile::Settle(const dp::TrainingRecord& record, dp::JobEnd ended) {
  Require(own_.has_value(), "LedgerFile::Settle: after Reserve");
  const ChainFile::Locked locked(chain_);
  Follow();
  Append({dp::Ledger::SettleEntry(record, ended, ledger_.jobs()[*own_].delta, TimeNow())});
  struct flock lock {};
  (void)JobLock(chain_.descriptor(), F_OFD_SETLK, F_UNLCK, *own_,
                lock);  // nobody asks for a job that has ended
  own_.reset();
  return chain_.head();
}

void LedgerFile::Stop() {
  if (own_) (void)Settle(dp::TrainingRecord(ledger_.jobs()[*own_].announced), dp::JobEnd::kStopped);
}

}  // namespace trefoil::runtime
