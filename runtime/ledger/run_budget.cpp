#include "runtime/ledger/run_budget.h"

#include <spdlog/fmt/fmt.h>

#include <filesystem>
#include <utility>

#include "base/error.h"
#include "data/dataset/data_hash.h"
#include "jobs/statement/bound_text.h"

namespace trefoil::runtime {
namespace {

BudgetRequest RequestOf(const jobs::LedgerSettings& ledger, const BudgetedJob& job, const std::string& data,
                        const std::optional<PopulationClaim>& population, const dp::TrainingRecord& plan) {
  return {.data = data,
          .name = job.name,
          .record = plan,
          .epsilon_cap = ledger.epsilon_cap,
          .delta = ledger.delta,
          .before = {},
          .mode = ledger.mode,
          .population = population};
}

/// What no epsilon covers, if there is anything.
std::string WithoutEpsilon(const std::string& found) {
  return found.empty() ? "" : found + ", which no epsilon covers";
}

/// A ledger is of records that this party has files of: it must not seem to have charged those of owners.
std::string WhyUncharged(const jobs::Job& job) {
  const auto* records = job.Records();
  if (records == nullptr || !records->store.on) return WithoutEpsilon(job.Uncovered());
  return "data.source: found \"store\", whose owners' records are in no ledger of a party's own data";
}

}  // namespace

void RequireCovered(const BudgetedJob& job, const jobs::LedgerSettings& ledger) {
  if (job.uncovered.empty()) return;
  throw BudgetError(fmt::format("{}: {}, expected another one where there is a ledger", ledger.file.string(),
                                job.uncovered));
}

void RequireNoChoice(const jobs::PartyFile& party, const jobs::Job& job) {
  const auto choice = job.ValidationUncovered(party.id);
  if (choice.empty() || party.validation.empty() || !(party.ledger || party.evaluation_ledger)) return;
  const auto data = data::DataHash(party.validation);
  const auto knows = [&data](const std::optional<jobs::LedgerSettings>& ledger) {
    return ledger && std::filesystem::exists(ledger->file) && ReadLedger(ledger->file).ledger.IsOf(data);
  };
  const auto refuse = [&choice](const jobs::LedgerSettings& ledger) {
    throw BudgetError(
        fmt::format("{}: {} on [validation] records that this ledger is of, which no epsilon covers, "
                    "expected records of no ledger",
                    ledger.file.string(), choice));
  };
  if (knows(party.ledger)) refuse(*party.ledger);
  if (!party.evaluation_ledger) return;
  const bool tests = !party.evaluation.empty() && data::DataHash(party.evaluation) == data;
  if (tests || knows(party.evaluation_ledger)) refuse(*party.evaluation_ledger);
}

std::optional<BudgetedJob> BudgetedJobOf(const jobs::Job& job) {
  if (!job.Covered().empty()) return {};
  return BudgetedJob{.name = job.name(), .job_hash = jobs::HashOf(job), .uncovered = WhyUncharged(job)};
}

std::optional<BudgetedJob> BudgetedEvaluationOf(const jobs::Job& job, int party) {
  const auto uncovered = job.TestsUncovered(party);
  if (!uncovered) return {};
  return BudgetedJob{
      .name = job.name(), .job_hash = jobs::HashOf(job), .uncovered = WithoutEpsilon(*uncovered)};
}

std::optional<PopulationClaim> ClaimOf(const LedgerOf& of, const std::string& data) {
  if (of.ledger.population.empty()) return {};
  if (of.files.empty()) {  // no record of them could be looked for among those of others
    throw ConfigError(
        fmt::format("{}: found a ledger of population \"{}\" and no data file, expected data.file, "
                    "the table of whom it is",
                    of.ledger.file.string(), of.ledger.population));
  }
  PopulationClaim claim{
      .population = of.ledger.population, .data = data, .records = {.key = TagKeyOf(of.party), .tags = {}}};
  claim.known = KnownRecords(of.ledger.file).Knows(claim);
  if (!claim.known) claim.records = TagsOf(of.party, of.files);
  return claim;
}

BudgetAnswer AskBudget(const LedgerOf& of, const BudgetedJob& job,
                       const std::vector<dp::RecordedEvent>& plan) {
  RequireCovered(job, of.ledger);
  const dp::TrainingRecord record{.job_hash = job.job_hash, .run_id = {}, .events = plan};
  const auto data = data::DataHash(of.files);
  return AskLedger(of.ledger.file, RequestOf(of.ledger, job, data, ClaimOf(of, data), record));
}

std::string BudgetLine(const jobs::LedgerSettings& ledger, const BudgetAnswer& answer) {
  return fmt::format("{}: epsilon {} spent before, {} with this job, cap {} (insider, delta {})",
                     ledger.file.string(), jobs::EpsilonText(answer.spent), jobs::EpsilonText(answer.after),
                     ledger.epsilon_cap, jobs::DeltaText(ledger.delta));
}

RunBudget::Side::Side(const LedgerOf& of, BudgetedJob budgeted)
    : settings(of.ledger),
      job(std::move(budgeted)),
      file(of.ledger.file),
      data(data::DataHash(of.files)),
      population(ClaimOf(of, data)) {}

RunBudget::RunBudget(const jobs::PartyFile& party, const jobs::Job& job) {
  RequireNoChoice(party, job);
  if (auto budgeted = BudgetedJobOf(job); party.ledger && budgeted) {
    RequireCovered(*budgeted, *party.ledger);
    records_.emplace(LedgerOf{party, *party.ledger, party.data}, std::move(*budgeted));
  }
  if (auto budgeted = BudgetedEvaluationOf(job, party.id); party.evaluation_ledger && budgeted)
    tests_.emplace(LedgerOf{party, *party.evaluation_ledger, party.evaluation}, std::move(*budgeted));
}

std::vector<ReservedBudget> RunBudget::Reserve(const dp::TrainingRecord& plan,
                                               const dp::TrainingRecord& before) {
  std::vector<ReservedBudget> reserved;
  const auto reserve = [&](std::optional<Side>& side, const char* what, const dp::TrainingRecord& all,
                           const dp::TrainingRecord& earlier) {
    if (!side) return;
    RequireCovered(side->job, side->settings);
    auto request = RequestOf(side->settings, side->job, side->data, side->population, all);
    request.before = earlier;
    const auto answer = side->file.Reserve(request);
    reserved.push_back(
        {.what = what,
         .answer = answer,
         .epsilon_cap = side->settings.epsilon_cap,
         .delta = side->settings.delta,
         .line = fmt::format("{} {}, line hash {}", what, BudgetLine(side->settings, answer), answer.head)});
  };
  reserve(records_, "ledger", plan, before);
  reserve(tests_, "ledger of the test records", dp::TestSetRecord(plan), dp::TestSetRecord(before));
  return reserved;
}

void RunBudget::Announce(const dp::TrainingRecord& record) {
  if (records_) records_->file.Announce(record);
}

void RunBudget::Settle(const dp::TrainingRecord& record) {
  if (records_) (void)records_->file.Settle(record, dp::JobEnd::kDone);
  if (tests_) (void)tests_->file.Settle(dp::TestSetRecord(record), dp::JobEnd::kDone);
}

void RunBudget::StopOrLog(const std::function<void(const std::string& line)>& log) {
  for (auto* side : {&records_, &tests_}) {
    try {
      if (*side) (*side)->file.Stop();
    } catch (const std::exception& error) {
      log(std::string("ledger: ") + error.what());
    }
  }
}

}  // namespace trefoil::runtime
