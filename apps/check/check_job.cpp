#include "apps/check/check_job.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "base/error.h"
#include "jobs/advice.h"
#include "jobs/files/share_file.h"
#include "jobs/job.h"
#include "jobs/statement/amount_text.h"
#include "jobs/statement/bound_text.h"
#include "runtime/ledger/ledger_file.h"
#include "runtime/ledger/run_budget.h"
#include "runtime/machine_check.h"
#include "runtime/resume/checkpoint_file.h"

namespace trefoil::apps {
namespace {

constexpr const char* kMendJob = "correct the job, at all three parties";
constexpr const char* kMendData =
    "correct that file, the party file's table that names it, or what the job says of it, at all three "
    "parties";

/// Of the memory that is planned: as far below it as a run's may be (docs/reference/performance.md).
constexpr double kLeastOfPlanned = 0.75;

/// Returns what there is and what is needed, in words; `how`: "at least" or "about". Throws ConfigError where
/// less than `least` is there.
std::string RequireRoom(double available, double needed, double least, const char* how, const char* mend) {
  const auto there = jobs::BytesText(static_cast<std::uint64_t>(available));
  const auto asked = fmt::format("{} {}", how, jobs::BytesText(static_cast<std::uint64_t>(needed)));
  if (available < least) throw ConfigError(fmt::format("found {} free, expected {}: {}", there, asked, mend));
  return fmt::format("{} free, {} needed", there, asked);
}

/// Whether the machine has room for this party's part of the job. Returns false where what it needs depends
/// on a model that is not known yet.
bool ExamineRoom(Doctor& doctor, const jobs::Job& job, int party) {
  std::optional<jobs::JobPlan> plan;
  try {
    plan = job.Plan({});
  } catch (const ConfigError&) {
    return true;  // the privacy plan has said so
  }
  if (!plan->memory) return false;
  doctor.Try("memory", [&] {
    const double planned = plan->memory->at(static_cast<std::size_t>(party));
    return RequireRoom(runtime::AvailableMemory(), planned, kLeastOfPlanned * planned, "about",
                       "more memory, or a smaller job, at all three parties");
  });
  doctor.Try("disk of this folder", [&] {
    const double least = plan->disk.at(static_cast<std::size_t>(party));
    return RequireRoom(runtime::AvailableDisk("."), least, least, "at least",
                       "remove something, or run in a folder of another disk");
  });
  return true;
}

/// What the job costs those whom it is about: its epsilons, where it has a plan.
std::optional<dp::EpsilonPair> ExaminePrivacy(Doctor& doctor, const jobs::Job& job) {
  dp::EpsilonPair epsilons;
  const bool planned = doctor.Try(
      "privacy plan",
      [&] {
        if (!job.Covered().empty()) return job.Covered();
        epsilons = job.Epsilons();
        return fmt::format("epsilon {}, delta {}; {}",
                           jobs::EpsilonsText(epsilons.outsider, epsilons.insider, jobs::FirstOf(job)),
                           jobs::DeltaText(job.delta()), job.Title());
      },
      kMendJob);
  return planned ? std::optional(epsilons) : std::nullopt;
}

void RequireWholeLedger(const std::filesystem::path& file) {
  if (!std::filesystem::exists(file)) return;
  try {
    (void)runtime::ReadLedger(file);
  } catch (const DataError& error) {
    throw DataError(fmt::format("{}: bring back the last good copy; a ledger is never edited", error.what()));
  }
}

constexpr const char* kResumed =
    "; this is of a run that begins: one of this job that was stopped is asked only for what it has not "
    "spent yet, where --resume goes on with it";

/// Whether the ledger, which refuses the job, has a run of it that has not come to its end, and would ask
/// less of that: not a closed one, whose entries are charged already.
bool AsksLessOfStoppedRun(const std::filesystem::path& file, const runtime::BudgetedJob& job) {
  if (!std::filesystem::exists(file)) return false;
  const auto ledger = runtime::ReadLedger(file).ledger;
  if (ledger.terms() && ledger.terms()->mode == dp::FilterMode::kClosed) return false;
  const auto& runs = ledger.jobs();
  return std::any_of(runs.begin(), runs.end(), [&](const dp::LedgerJob& run) {
    return run.reserved.job_hash == job.job_hash && run.ended != dp::JobEnd::kDone;
  });
}

/// Whether a ledger of this party can be kept, and its cap allows the job on these files. `resumable`:
/// whether runs of it can be resumed.
void ExamineLedger(Doctor& doctor, const char* name, const runtime::LedgerOf& of,
                   const runtime::BudgetedJob& job, const std::vector<dp::RecordedEvent>& plan,
                   bool resumable) {
  doctor.Try(name, [&] {
    const auto& file = of.ledger.file;
    RequireFolderOf(file, "the ledger");
    runtime::RequireTwoLedgers(of.party);
    if (std::filesystem::is_directory(file))
      throw ConfigError(file.string() + ": found a folder, expected a ledger: correct ledger.file");
    RequireWholeLedger(file);
    try {
      return runtime::BudgetLine(of.ledger, runtime::AskBudget(of, job, plan));
    } catch (const BudgetError& error) {
      if (!job.uncovered.empty()) throw BudgetError(fmt::format("{}: {}", error.what(), kMendJob));
      throw BudgetError(fmt::format("{}: spend less by the job, or ask whoever sets ledger.epsilon_cap{}",
                                    error.what(),
                                    resumable && AsksLessOfStoppedRun(file, job) ? kResumed : ""));
    }
  });
}

/// Whether the ledgers of this party's records, and of the test records that it holds, allow the job.
void ExamineLedgers(Doctor& doctor, const jobs::Job& job, const jobs::PartyFile& party) {
  const auto events = job.Events();
  const auto records = runtime::BudgetedJobOf(job);
  const bool on_deposits = party.owner_ledgers && runtime::BudgetedOnDeposits(job);
  if (party.ledger && records && !on_deposits && (!party.data.empty() || !records->uncovered.empty()))
    ExamineLedger(doctor, "ledger", {party, *party.ledger, party.data}, *records, events,
                  job.NoResume().empty());
  if (!job.ValidationUncovered(party.id).empty() && (party.ledger || party.evaluation_ledger)) {
    doctor.Try(
        "ledgers and validation records",
        [&] {
          runtime::RequireNoChoice(party, job);
          return std::string("none is of them");
        },
        kMendJob);
  }
  const auto tests = runtime::BudgetedEvaluationOf(job, party.id);
  if (party.evaluation_ledger && tests && !party.evaluation.empty())
    ExamineLedger(doctor, "ledger of the test records", {party, *party.evaluation_ledger, party.evaluation},
                  *tests, dp::TestSetRecord({.job_hash = {}, .run_id = {}, .events = events}).events,
                  job.NoResume().empty());
}

/// Whether the ledgers of the populations that this party has deposits of can be kept, and allow the job.
void ExamineOwnerLedgers(Doctor& doctor, const jobs::Job& job, const jobs::PartyFile& party,
                         jobs::SharedRecords& store) {
  const auto budgeted = runtime::BudgetedOnDeposits(job);
  if (!party.owner_ledgers || !budgeted) return;
  doctor.Try("ledgers of owners", [&] {
    const auto& folder = party.owner_ledgers->folder;
    runtime::RequireCovered(*budgeted, {.file = folder});
    RequireFolderOf(folder, "owner_ledgers.folder");
    if (std::filesystem::exists(folder) && !std::filesystem::is_directory(folder))
      throw ConfigError(folder.string() + ": found a file, expected a folder: correct owner_ledgers.folder");
    const dp::TrainingRecord plan{.job_hash = budgeted->job_hash, .run_id = {}, .events = job.Events()};
    const auto populations = store.Populations();
    std::string capped;
    std::size_t count = 0;
    bool resumed = false;
    for (const auto& one : populations) {
      const auto file = runtime::OwnerLedger(*party.owner_ledgers, one).file;
      RequireWholeLedger(file);
      const auto why = runtime::WhyCapped(*party.owner_ledgers, one, *budgeted, plan);
      if (why.empty()) continue;
      capped += (count++ > 0 ? "; " : "") + why;
      resumed = resumed || (job.NoResume().empty() && AsksLessOfStoppedRun(file, *budgeted));
    }
    if (count == 0) return fmt::format("{} populations, each with room for the job", populations.size());
    auto found = fmt::format("{}{} populations are capped: {}",
                             count == populations.size() ? "all " : fmt::format("{} of ", count),
                             populations.size(), capped);
    const auto* note = resumed ? kResumed : "";
    if (count == populations.size() || job.Records()->store.capped == jobs::CappedDeposits::kEnd)
      throw BudgetError(found + ": spend less by the job, or leave such deposits out: data.capped" + note);
    return found + note;
  });
}

/// Whether this party has its key for what it keeps, or opens.
void ExamineStorageKey(Doctor& doctor, const jobs::Job& job, const jobs::PartyFile& party) {
  const bool checkpoints = job.Steps().checkpoint_every > 0;
  if (!checkpoints && !job.release_to().empty() && !job.NeedsModel()) return;
  doctor.Try("storage key", [&] {
    (void)jobs::StorageKey(party, checkpoints ? runtime::kCheckpoint : jobs::kModelShare);
    return std::string(party.storage_key.empty() ? "the private key" : party.storage_key.string());
  });
}

}  // namespace

std::string ExamineJob(Doctor& doctor, const jobs::PartyFile& party, const CheckedFiles& files) {
  if (files.job.empty()) return "";
  std::unique_ptr<jobs::Job> job;
  doctor.Try(
      "job",
      [&] {
        job = jobs::ReadJob(files.job, {}, files.types);
        return fmt::format("{}, hash {}", files.job, jobs::HashOf(*job));
      },
      kMendJob);
  if (!job) return "";
  if (party.ranks > 1) {
    doctor.Try(
        "job on several machines",
        [&] {
          job->UseRanks(party.ranks);
          return fmt::format("{} ranks", party.ranks);
        },
        kMendJob);
  }
  if (const auto epsilons = ExaminePrivacy(doctor, *job)) {
    ExamineLedgers(doctor, *job, party);
    for (const auto& note : jobs::AdviceOn(*job, *epsilons)) Doctor::Warn("job", note);
  }
  ExamineStorageKey(doctor, *job, party);
  bool has_room = ExamineRoom(doctor, *job, party.id);
  const auto store = jobs::OpenStoreOf(*job, party, files.party_file, files.open_store);
  for (const auto& input : job->Inputs(party, files.party_file, {.types = files.types})) {
    jobs::Loaded found;
    const bool loaded = doctor.Try(
        input.what,
        [&] {
          found = input.load();
          return found.said;
        },
        input.mend.empty() ? kMendData : input.mend);
    for (const auto& line : found.warnings) Doctor::Warn(input.what + ", to the owner alone", line);
    has_room = has_room || ExamineRoom(doctor, *job, party.id);
    if (!loaded) return job->Json();  // what follows may need it
  }
  if (store) ExamineOwnerLedgers(doctor, *job, party, *store);
  return job->Json();
}

}  // namespace trefoil::apps
