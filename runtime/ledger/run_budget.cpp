#include "runtime/ledger/run_budget.h"

#include <spdlog/fmt/fmt.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/files/open_files.h"
#include "base/files/sync_to_disk.h"
#include "base/secrets/sha256.h"
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
  if (!jobs::IsOnDeposits(job)) return WithoutEpsilon(job.Uncovered());
  return "data.source: found \"store\", whose owners' records are in no ledger of a party's own data but in "
         "those of [owner_ledgers]";
}

BudgetedJob Budgeted(const jobs::Job& job, std::string uncovered) {
  return {.name = job.name(), .job_hash = jobs::HashOf(job), .uncovered = std::move(uncovered)};
}

/// Makes a folder that is not there.
void MakeOwnFolder(const std::filesystem::path& folder) {
  if (MakePrivateFolder(folder)) return;
  const auto cause = std::generic_category().message(errno);
  if (!std::filesystem::is_directory(folder))
    throw ConfigError(fmt::format("{}: cannot be made a folder for ledgers: {}", folder.string(), cause));
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

void RequireTwoLedgers(const jobs::PartyFile& party) {
  if (!party.ledger || !party.evaluation_ledger) return;
  const auto& one = party.ledger->file;
  const auto& other = party.evaluation_ledger->file;
  const bool there = std::filesystem::exists(one) && std::filesystem::exists(other);
  const bool same = there
                        ? std::filesystem::equivalent(one, other)
                        : std::filesystem::weakly_canonical(one) == std::filesystem::weakly_canonical(other);
  if (same)
    throw ConfigError(fmt::format(
        "evaluation_ledger.file: found {}, which is the file of [ledger], {}, expected another one",
        other.string(), one.string()));
}

std::optional<BudgetedJob> BudgetedJobOf(const jobs::Job& job) {
  if (!job.Covered().empty()) return {};
  return Budgeted(job, WhyUncharged(job));
}

std::optional<BudgetedJob> BudgetedOnDeposits(const jobs::Job& job) {
  if (!jobs::IsOnDeposits(job)) return {};
  return Budgeted(job, WithoutEpsilon(job.Uncovered()));
}

std::optional<BudgetedJob> BudgetedEvaluationOf(const jobs::Job& job, int party) {
  const auto uncovered = job.TestsUncovered(party);
  if (!uncovered) return {};
  return Budgeted(job, WithoutEpsilon(*uncovered));
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
  if (claim.known) return claim;
  // Or the records of one file would stand under the hash of another, and never be looked at again.
  data::SameData same;
  same.Add(of.files, data);
  claim.records = TagsOf(of.party, of.files);
  same.Require();
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

jobs::LedgerSettings OwnerLedger(const jobs::OwnerLedgerSettings& settings,
                                 const jobs::Population& population) {
  return {.file = settings.folder / population.owner / (population.name + ".jsonl"),
          .epsilon_cap = settings.epsilon_cap,
          .delta = settings.delta,
          .mode = settings.mode};
}

std::string OwnerDataHash(const jobs::Population& population) {
  return Sha256Hex(fmt::format("trefoil deposits of\n{}\n{}\n", population.owner, population.name));
}

std::string WhyCapped(const jobs::OwnerLedgerSettings& settings, const jobs::Population& population,
                      const BudgetedJob& job, const dp::TrainingRecord& plan) {
  const auto ledger = OwnerLedger(settings, population);
  try {
    (void)AskLedger(ledger.file, RequestOf(ledger, job, OwnerDataHash(population), {}, plan));
    return "";
  } catch (const BudgetError& error) {
    return error.what();
  }
}

RunBudget::Side::Side(std::string name, const LedgerOf& of, BudgetedJob budgeted)
    : what(std::move(name)),
      settings(of.ledger),
      job(std::move(budgeted)),
      file(of.ledger.file),
      data(data::DataHash(of.files)),
      population(ClaimOf(of, data)) {}

RunBudget::Side::Side(jobs::LedgerSettings ledger, const jobs::Population& of, BudgetedJob budgeted)
    : what(fmt::format("ledger of {}, population {}", of.owner, of.name)),
      settings(std::move(ledger)),
      job(std::move(budgeted)),
      file(settings.file),
      data(OwnerDataHash(of)) {}

RunBudget::RunBudget(const jobs::PartyFile& party, const jobs::Job& job) {
  RequireTwoLedgers(party);
  RequireNoChoice(party, job);
  if (auto on_deposits = BudgetedOnDeposits(job); on_deposits && party.owner_ledgers) {
    RequireCovered(*on_deposits, {.file = party.owner_ledgers->folder});
    owners_ = Owners{.settings = *party.owner_ledgers, .job = *std::move(on_deposits)};
  } else if (auto budgeted = BudgetedJobOf(job); budgeted && party.ledger) {
    RequireCovered(*budgeted, *party.ledger);
    records_.emplace("ledger", LedgerOf{party, *party.ledger, party.data}, std::move(*budgeted));
  }
  if (auto tested = BudgetedEvaluationOf(job, party.id); party.evaluation_ledger && tested)
    tests_.emplace("ledger of the test records", LedgerOf{party, *party.evaluation_ledger, party.evaluation},
                   std::move(*tested));
}

std::vector<RunBudget::Side*> RunBudget::Records() {
  std::vector<Side*> sides;
  if (records_) sides.push_back(&*records_);
  for (const auto& side : deposits_) sides.push_back(side.get());
  return sides;
}

std::vector<RunBudget::Side*> RunBudget::All() {
  auto sides = Records();
  if (tests_) sides.push_back(&*tests_);
  return sides;
}

std::string RunBudget::WhyCapped(const jobs::Population& population, const dp::TrainingRecord& plan) const {
  return owners_ ? runtime::WhyCapped(owners_->settings, population, owners_->job, plan) : "";
}

void RunBudget::PrepareOwners(const std::vector<jobs::Population>& populations,
                              const dp::TrainingRecord& plan) const {
  if (!owners_) return;
  RequireOpenFiles(kOpenFilesOfParty + populations.size());
  MakeOwnFolder(owners_->settings.folder);
  for (const auto& one : populations) (void)WhyCapped(one, plan);
}

void RunBudget::ChargeTo(const std::vector<jobs::Population>& populations) {
  if (!owners_) return;
  MakeOwnFolder(owners_->settings.folder);
  for (const auto& one : populations) {
    auto ledger = OwnerLedger(owners_->settings, one);
    MakeOwnFolder(ledger.file.parent_path());
    deposits_.push_back(std::make_unique<Side>(std::move(ledger), one, owners_->job));
  }
}

std::vector<ReservedBudget> RunBudget::Reserve(const dp::TrainingRecord& plan,
                                               const dp::TrainingRecord& before) {
  std::vector<ReservedBudget> reserved;
  const auto reserve = [&](Side& side, const dp::TrainingRecord& all, const dp::TrainingRecord& earlier) {
    RequireCovered(side.job, side.settings);
    auto request = RequestOf(side.settings, side.job, side.data, side.population, all);
    request.before = earlier;
    const auto answer = side.file.Reserve(request);
    reserved.push_back({.what = side.what,
                        .answer = answer,
                        .epsilon_cap = side.settings.epsilon_cap,
                        .delta = side.settings.delta,
                        .line = fmt::format("{} {}, line hash {}", side.what,
                                            BudgetLine(side.settings, answer), answer.head)});
  };
  for (auto* side : Records()) reserve(*side, plan, before);
  if (tests_) reserve(*tests_, dp::TestSetRecord(plan), dp::TestSetRecord(before));
  return reserved;
}

void RunBudget::Announce(const dp::TrainingRecord& record) {
  for (auto* side : Records()) side->file.Announce(record);
}

void RunBudget::Settle(const dp::TrainingRecord& record) {
  for (auto* side : Records()) (void)side->file.Settle(record, dp::JobEnd::kDone);
  if (tests_) (void)tests_->file.Settle(dp::TestSetRecord(record), dp::JobEnd::kDone);
}

void RunBudget::StopOrLog(const std::function<void(const std::string& line)>& log) {
  for (auto* side : All()) {
    try {
      side->file.Stop();
    } catch (const std::exception& error) {
      log(std::string("ledger: ") + error.what());
    }
  }
}

}  // namespace trefoil::runtime
