#include "apps/check/check_job.h"

#include <spdlog/fmt/fmt.h>

#include <memory>
#include <optional>

#include "base/error.h"
#include "jobs/config/toml_reader.h"
#include "jobs/dpsgd/evaluation.h"
#include "jobs/dpsgd/held_out_files.h"
#include "jobs/dpsgd/training_settings.h"
#include "jobs/job.h"
#include "jobs/predict/prediction_inputs.h"
#include "jobs/predict/settings.h"
#include "jobs/predict/shared_classifier.h"
#include "jobs/statement/amount_text.h"
#include "jobs/statement/bound_text.h"
#include "jobs/statement/vertical_statement.h"
#include "runtime/ledger/ledger_file.h"
#include "runtime/ledger/run_budget.h"
#include "runtime/machine_check.h"
#include "runtime/observe/progress.h"
#include "runtime/resume/checkpoint_file.h"

namespace trefoil::apps {
namespace {

constexpr const char* kMendJob = "correct the job, at all three parties";
constexpr const char* kMendData =
    "correct that file, the party file's table that names it, or what the job says of it, at all three "
    "parties";

/// Whether this party has its key for what it keeps.
bool ExamineStorageKey(Doctor& doctor, const jobs::PartyFile& party, const jobs::SealedKind& kind) {
  return doctor.Try("storage key", [&] {
    (void)jobs::StorageKey(party, kind);
    return std::string(party.storage_key.empty() ? "the private key" : party.storage_key.string());
  });
}

void RequireRoom(double available, double least, const std::string& mend) {
  if (available >= least) return;
  throw ConfigError(fmt::format("found {} free, expected at least {}: {}",
                                jobs::BytesText(static_cast<std::uint64_t>(available)),
                                jobs::BytesText(static_cast<std::uint64_t>(least)), mend));
}

std::string RoomText(double available, double least) {
  return fmt::format("{} free, at least {} needed", jobs::BytesText(static_cast<std::uint64_t>(available)),
                     jobs::BytesText(static_cast<std::uint64_t>(least)));
}

/// Whether the machine has room for so many bytes; `mend` is how a job needs less memory.
void ExamineRoom(Doctor& doctor, double memory, double disk, const std::string& mend) {
  doctor.Try("memory", [&] {
    const double available = runtime::AvailableMemory();
    RequireRoom(available, memory, "more memory, " + mend);
    return RoomText(available, memory);
  });
  doctor.Try("disk of this folder", [&] {
    const double available = runtime::AvailableDisk(".");
    RequireRoom(available, disk, "remove something, or run in a folder of another disk");
    return RoomText(available, disk);
  });
}

/// The same for this party of a job that is no training.
void ExamineRoom(Doctor& doctor, const jobs::JobCost& cost, int party) {
  const auto self = static_cast<std::size_t>(party);
  ExamineRoom(doctor, cost.memory.at(self), runtime::LeastDisk(cost.results.at(self)),
              "or a smaller job, at all three parties");
}

/// A prediction, this party's share of its model, and the client's rows; returns as ExamineJobOfAnyType, like
/// the next two.
std::string ExaminePrediction(Doctor& doctor, const jobs::PartyFile& party, const CheckedFiles& files) {
  std::optional<jobs::PredictSettings> job;
  doctor.Try(
      "job",
      [&] {
        job = jobs::ReadPredictSettings(files.job);
        return fmt::format("{}, up to {} rows of party {}", files.job, job->rows, job->client);
      },
      kMendJob);
  if (!job) return "";
  if (!ExamineStorageKey(doctor, party, jobs::kModelShare)) return jobs::PredictJson(*job);
  std::optional<jobs::ShareFile> model;
  doctor.Try(
      "share of the model",
      [&] {
        model = jobs::LoadModelShare(party, *job, files.party_file);
        return fmt::format("{}, of run {}", party.predict.share.string(), model->record.run_id);
      },
      "name this party's model.share of that run in the party file's [predict], and in [storage] the key "
      "that it was sealed with; or bring back a copy");
  if (model)
    ExamineRoom(doctor, jobs::ClassifyBySharesCost(*job, model->job, protocols::Form::kBulk), party.id);
  if (model && party.id == job->client) {
    doctor.Try(
        "rows to predict",
        [&] {
          const auto rows = jobs::LoadRowsToPredict(*job, model->job, party, files.party_file, 0);
          return fmt::format("{} rows as the model's job declares them", rows.x.rows());
        },
        kMendData);
  }
  return jobs::PredictJson(*job);
}

/// Whether the machine has room for the job, and this party its key for what it keeps.
void ExamineMachine(Doctor& doctor, const jobs::PartyFile& party, const jobs::DpsgdSettings& job) {
  std::optional<ml::StepPlan> plan;
  try {
    plan = ml::MakeStepPlan(jobs::SettingsOf(job));
  } catch (const ConfigError&) {
    return;  // the privacy plan has said so
  }
  const bool checkpoints = job.training.checkpoint_every > 0;
  ExamineRoom(doctor, runtime::LeastMemory(job, *plan, party.id), runtime::LeastDisk(*plan, checkpoints),
              "fewer data.rows, or smaller batches");
  if (!checkpoints && !job.release.to.empty()) return;
  ExamineStorageKey(doctor, party, checkpoints ? runtime::kCheckpoint : jobs::kModelShare);
}

void RequireWholeLedger(const std::filesystem::path& file) {
  if (!std::filesystem::exists(file)) return;
  try {
    (void)runtime::ReadLedger(file);
  } catch (const DataError& error) {
    throw DataError(fmt::format("{}: bring back the last good copy; a ledger is never edited", error.what()));
  }
}

/// Whether a ledger of this party can be kept, and its cap allows the job on these files.
void ExamineLedger(Doctor& doctor, const char* name, const jobs::LedgerSettings& ledger,
                   const data::DataFiles& files, const runtime::BudgetedJob& job,
                   const std::vector<dp::RecordedEvent>& plan) {
  doctor.Try(name, [&] {
    const auto& file = ledger.file;
    const auto folder = std::filesystem::absolute(file).parent_path();
    if (!std::filesystem::is_directory(folder))
      throw ConfigError(folder.string() + ": found no such folder, expected one for the ledger: make it");
    if (std::filesystem::is_directory(file))
      throw ConfigError(file.string() + ": found a folder, expected a ledger: correct ledger.file");
    RequireWholeLedger(file);
    try {
      return runtime::BudgetLine(ledger, runtime::AskBudget(ledger, files, job, plan));
    } catch (const BudgetError& error) {
      throw BudgetError(fmt::format("{}: {}", error.what(),
                                    job.uncovered.empty()
                                        ? "spend less by the job, or ask whoever sets ledger.epsilon_cap"
                                        : kMendJob));
    }
  });
}

/// A task and this party's data.
std::string ExamineTask(Doctor& doctor, const jobs::PartyFile& party, const CheckedFiles& files) {
  std::unique_ptr<jobs::Job> task;
  doctor.Try(
      "job",
      [&] {
        task = jobs::ReadJob(files.job);
        return fmt::format("{}, hash {}", files.job, jobs::HashOf(*task));
      },
      kMendJob);
  if (!task) return "";
  const bool planned = doctor.Try(
      "privacy plan",
      [&] {
        const auto epsilons = task->Epsilons();
        return fmt::format(
            "epsilon {}, delta {}",
            jobs::EpsilonsText(epsilons.outsider, epsilons.insider, jobs::FirstEpsilon::kOutsider),
            jobs::DeltaText(task->delta()));
      },
      kMendJob);
  if (planned && party.ledger && !party.data.empty()) {
    const runtime::BudgetedJob job{
        .name = task->name(), .job_hash = jobs::HashOf(*task), .uncovered = task->Uncovered()};
    ExamineLedger(doctor, "ledger", *party.ledger, party.data, job, task->Events());
  }
  const auto plan = task->Plan({});
  const auto self = static_cast<std::size_t>(party.id);
  ExamineRoom(doctor, plan.memory->at(self), plan.disk.at(self), "or a smaller job, at all three parties");
  if (task->release_to().empty()) ExamineStorageKey(doctor, party, jobs::kModelShare);
  doctor.Try(
      "data", [&] { return jobs::LoadInputs(*task, party, files.party_file, {}).said; }, kMendData);
  return task->Json();
}

/// A training, this party's data, and what it holds for evaluation and selection.
std::string ExamineJob(Doctor& doctor, const jobs::PartyFile& party, const std::string& file) {
  std::optional<jobs::DpsgdSettings> job;
  doctor.Try(
      "job",
      [&] {
        job = jobs::ReadDpsgdSettings(file);
        return fmt::format("{}, hash {}", file, jobs::DpsgdHash(*job));
      },
      kMendJob);
  if (!job) return "";
  std::optional<ml::PrivacyPlan> plan;
  doctor.Try(
      "privacy plan",
      [&] {
        plan = ml::MakePlan(jobs::SettingsOf(*job));
        return fmt::format(
            "epsilon {}, delta {}, sigma {}",
            jobs::EpsilonsText(plan->epsilon_outsider, plan->epsilon_insider, jobs::FirstOf(*job)),
            jobs::DeltaText(plan->delta), jobs::MultiplierText(plan->sigma));
      },
      kMendJob);
  if (plan && party.ledger && !party.data.empty()) {
    ExamineLedger(doctor, "ledger", *party.ledger, party.data, runtime::BudgetedJobOf(*job), plan->events);
  }
  const auto evaluation = runtime::BudgetedEvaluationOf(*job, party.id);
  if (plan && party.evaluation_ledger && evaluation && !party.evaluation.empty()) {
    ExamineLedger(doctor, "ledger of the test records", *party.evaluation_ledger, party.evaluation,
                  *evaluation,
                  dp::TestSetRecord({.job_hash = {}, .run_id = {}, .events = plan->events}).events);
  }
  ExamineMachine(doctor, party, *job);
  doctor.Try(
      "data",
      [&] {
        if (party.data.empty()) {
          throw ConfigError("the party file's [data] names no files: write x and y, or file");
        }
        const auto own = jobs::LoadOwnRecords(
            *job, party.id, party.data,
            {.most_in_memory = jobs::kMostInMemory, .feature_model = party.feature_model});
        return fmt::format("{} rows as the job declares them", own.rows());
      },
      kMendData);
  if (jobs::HoldsTest(*job, party.id) || jobs::HoldsValidation(*job, party.id)) {
    doctor.Try(
        "test and validation data",
        [&] {
          const auto records =
              jobs::LoadHeldOut(*job, party, "the party file", {.feature_model = party.feature_model});
          return fmt::format("{} and {} rows as the job declares them", records.test.y.size(),
                             records.validation.y.size());
        },
        kMendData);
  }
  return jobs::DpsgdJson(*job);
}

}  // namespace

std::string ExamineJobOfAnyType(Doctor& doctor, const jobs::PartyFile& party, const CheckedFiles& files) {
  if (files.job.empty()) return "";
  try {
    (void)jobs::ReadToml(files.job);
  } catch (const ConfigError& error) {
    doctor.Fail("job", fmt::format("{}: {}", error.what(), kMendJob), kConfiguration);
    return "";
  }
  if (jobs::IsPredictJob(files.job)) return ExaminePrediction(doctor, party, files);
  return jobs::IsRegisteredJob(files.job) ? ExamineTask(doctor, party, files)
                                          : ExamineJob(doctor, party, files.job);
}

}  // namespace trefoil::apps
