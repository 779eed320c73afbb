#include "apps/run_budget.h"

#include <spdlog/fmt/fmt.h>

#include <utility>

#include "apps/bound_text.h"
#include "apps/progress.h"
#include "base/error.h"
#include "base/sha256.h"
#include "data/file.h"

namespace trefoil::apps {
namespace {

/// Throws BudgetError for what is opened under no epsilon.
void RequireCovered(const BudgetedJob& job, const LedgerSettings& ledger) {
  if (job.uncovered.empty()) return;
  throw BudgetError(
      fmt::format("{}: {}, which no epsilon covers, expected another one where there is a ledger",
                  ledger.file.string(), job.uncovered));
}

BudgetRequest RequestOf(const LedgerSettings& ledger, const BudgetedJob& job, const std::string& data,
                        const dp::TrainingRecord& plan) {
  return {.data = data,
          .name = job.name,
          .record = plan,
          .epsilon_cap = ledger.epsilon_cap,
          .delta = ledger.delta,
          .before = {}};
}

}  // namespace

BudgetedJob BudgetedJobOf(const Job& job) {
  const bool uncovered =
      job.initialisation.method == "accuracy" && job.initialisation.selection == "as-published";
  return {.name = job.name,
          .job_hash = JobHash(job),
          .uncovered = uncovered ? "initialisation.selection: found \"as-published\"" : ""};
}

std::string DataHash(const data::DataFiles& files) {
  std::string lines;
  for (const auto& [key, file] : {std::pair{"x", files.x}, {"y", files.y}, {"file", files.file}}) {
    if (!file.empty()) lines += fmt::format("{} {}\n", key, data::FileSha256(file));
  }
  return Sha256Hex(lines);
}

BudgetAnswer AskBudget(const PartyFile& party, const BudgetedJob& job,
                       const std::vector<dp::RecordedEvent>& plan) {
  RequireCovered(job, *party.ledger);
  const dp::TrainingRecord record{.job_hash = job.job_hash, .run_id = {}, .events = plan};
  return AskLedger(party.ledger->file, RequestOf(*party.ledger, job, DataHash(party.data), record));
}

std::string BudgetLine(const LedgerSettings& ledger, const BudgetAnswer& answer) {
  return fmt::format("{}: epsilon {} spent before, {} with this job, cap {:g} (insider, delta {})",
                     ledger.file.string(), EpsilonText(answer.spent), EpsilonText(answer.after),
                     ledger.epsilon_cap, DeltaText(ledger.delta));
}

RunBudget::RunBudget(const PartyFile& party, BudgetedJob job)
    : settings_(party.ledger), job_(std::move(job)) {
  if (!settings_) return;
  file_.emplace(settings_->file);
  data_ = DataHash(party.data);
}

std::optional<std::string> RunBudget::Reserve(const dp::TrainingRecord& plan,
                                              const dp::TrainingRecord& before) {
  if (!file_) return {};
  RequireCovered(job_, *settings_);
  auto request = RequestOf(*settings_, job_, data_, plan);
  request.before = before;
  const auto answer = file_->Reserve(request);
  return fmt::format("ledger {}, line hash {}", BudgetLine(*settings_, answer), answer.head);
}

void RunBudget::Announce(const dp::TrainingRecord& record) {
  if (file_) file_->Announce(record);
}

void RunBudget::Settle(const dp::TrainingRecord& record) {
  if (file_) (void)file_->Settle(record, dp::JobEnd::kDone);
}

void RunBudget::StopOrLog(const std::function<void(const std::string& line)>& log) {
  try {
    if (file_) file_->Stop();
  } catch (const std::exception& error) {
    log(std::string("ledger: ") + error.what());
  }
}

}  // namespace trefoil::apps
