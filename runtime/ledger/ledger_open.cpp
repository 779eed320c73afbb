#include "runtime/ledger/ledger_open.h"

#include <spdlog/fmt/fmt.h>

#include <filesystem>
#include <iostream>
#include <map>
#include <utility>

#include "base/error.h"
#include "base/error_report.h"
#include "data/dataset/data_hash.h"
#include "dp/ledger/ledger.h"
#include "jobs/config/input_files.h"
#include "jobs/job.h"
#include "jobs/statement/bound_text.h"
#include "runtime/ledger/rdp_orders.h"
#include "runtime/ledger/run_budget.h"

namespace trefoil::runtime {
namespace {

/// A ledger of the party file, and the files that it is of.
struct Meant {
  jobs::PartyFile party;
  jobs::LedgerSettings ledger;
  data::DataFiles files;

  [[nodiscard]] LedgerOf of() const { return {party, ledger, files}; }
};

/// Files by a party file's keys. Throws ConfigError where one is not KEY=FILE, of a table that the ledger is
/// not of, or there twice.
std::map<std::string, std::filesystem::path> FilesOf(const LedgerOpenOptions& options) {
  const std::string table = options.evaluation ? "evaluation" : "data";
  std::map<std::string, std::filesystem::path> files;
  for (const auto& input : options.inputs) {
    const auto equals = input.find('=');
    if (equals == std::string::npos || equals + 1 == input.size())
      throw ConfigError(
          fmt::format("--input: found {}, expected KEY=FILE, as {}.file=march.csv", input, table));
    const auto key = input.substr(0, equals);
    if (key.rfind(table + ".", 0) != 0)
      throw ConfigError(fmt::format("--input: found {}, expected a file of [{}]", key, table));
    if (!files.emplace(key, input.substr(equals + 1)).second)
      throw ConfigError("--input: found " + key + " twice, expected it once");
  }
  return files;
}

Meant MeantBy(const LedgerOpenOptions& options) {
  auto party = jobs::ReadParty(options.config, options.types);
  jobs::BringFiles(party, FilesOf(options));
  const auto& ledger = options.evaluation ? party.evaluation_ledger : party.ledger;
  const auto& files = options.evaluation ? party.evaluation : party.data;
  if (!ledger)
    throw ConfigError(fmt::format("{}: missing [{}], expected its file, epsilon_cap and delta",
                                  options.config, options.evaluation ? "evaluation_ledger" : "ledger"));
  if (files.empty())
    throw ConfigError(fmt::format("{}: missing [{}], expected the files that the ledger is of",
                                  options.config, options.evaluation ? "evaluation" : "data"));
  return {.party = party, .ledger = *ledger, .files = files};
}

/// A job and all that it plans, as a ledger sees it.
struct PlannedJob {
  BudgetedJob job;
  dp::TrainingRecord record;  ///< without a run
};

PlannedJob PlanOf(const std::string& file, const Meant& meant, const LedgerOpenOptions& options) {
  const bool evaluation = options.evaluation;
  const auto job = jobs::ReadJob(file, {}, options.types);
  const dp::TrainingRecord record{.job_hash = jobs::HashOf(*job),
                                  .run_id = {},
                                  .events = job->Events(),
                                  .promise = jobs::PromiseOf(*job)};
  auto budgeted = evaluation ? BudgetedEvaluationOf(*job, meant.party.id) : BudgetedJobOf(*job);
  if (!budgeted)
    throw ConfigError(file + (evaluation ? ": found a job whose test records this party does not hold"
                                         : ": found a job that no ledger charges: " + job->Covered()));
  return {.job = std::move(*budgeted), .record = evaluation ? dp::TestSetRecord(record) : record};
}

/// Leaves room for steps that a resumed run does again. Throws ConfigError where that is not so many more.
void AddLostSteps(PlannedJob& planned, std::int64_t lost, const std::string& file) {
  if (lost == 0) return;
  for (auto& event : planned.record.events) {
    auto* steps = std::get_if<dp::DpSgdSteps>(&event);
    if (steps == nullptr) continue;
    if (steps->sampling == dp::SamplingMode::kPublic || steps->sampling == dp::SamplingMode::kDeposited)
      throw ConfigError("--lost-steps: found with " + file +
                        ", whose steps would be done again on the same batches; expected 0");
    steps->steps += lost;
  }
}

}  // namespace

int InitLedger(const LedgerOpenOptions& options) {
  const auto meant = MeantBy(options);
  const auto mode = options.mode.empty() ? meant.ledger.mode.value_or(dp::FilterMode::kRdp)
                                         : dp::FilterModeNamed(options.mode);
  if (meant.ledger.mode && *meant.ledger.mode != mode)
    throw ConfigError(fmt::format("--mode: found {}, expected {} as in {}", dp::NameOf(mode),
                                  dp::NameOf(*meant.ledger.mode), options.config));
  std::vector<double> orders;
  if (!options.orders.empty()) {
    for (const auto& [text, order] : ParseOrders(options.orders)) orders.push_back(order);
  }
  const auto terms = dp::MakeFilterTerms(mode, meant.ledger.delta, std::move(orders));
  const auto data = data::DataHash(meant.files);
  LedgerFile(meant.ledger.file).Open(data, terms, ClaimOf(meant.of(), data));
  std::cout << fmt::format("{}: mode {}, delta {}", meant.ledger.file.string(), dp::NameOf(mode),
                           jobs::DeltaText(terms.delta));
  if (mode == dp::FilterMode::kRdp) std::cout << fmt::format(", orders {}", fmt::join(terms.orders, ", "));
  std::cout << '\n';
  return kDone;
}

int EnterJobs(const LedgerOpenOptions& options) {
  const auto meant = MeantBy(options);
  const auto hash = data::DataHash(meant.files);
  const auto population = ClaimOf(meant.of(), hash);
  std::vector<BudgetRequest> requests;
  for (const auto& file : options.jobs) {
    auto planned = PlanOf(file, meant, options);
    RequireCovered(planned.job, meant.ledger);
    AddLostSteps(planned, options.lost_steps, file);
    requests.push_back({.data = hash,
                        .name = planned.job.name,
                        .record = planned.record,
                        .epsilon_cap = meant.ledger.epsilon_cap,
                        .delta = meant.ledger.delta,
                        .before = {},
                        .mode = meant.ledger.mode,
                        .population = population});
  }
  const auto answer = LedgerFile(meant.ledger.file).Enter(requests);
  std::cout << BudgetLine(meant.ledger, answer) << ", line hash " << answer.head << '\n';
  return kDone;
}

int DeclareData(const LedgerOpenOptions& options) {
  const auto meant = MeantBy(options);
  const auto& ledger = meant.ledger;
  if (ledger.population.empty())
    throw ConfigError(fmt::format("{}: missing {}.population, expected the name of whom the files are about",
                                  options.config, options.evaluation ? "evaluation_ledger" : "ledger"));
  const auto data = data::DataHash(meant.files);
  auto claim = ClaimOf(meant.of(), data);
  claim->by_chance = options.equal_by_chance;
  if (!claim->known) {
    const auto found = KnownRecords(ledger.file).Compare(*claim);
    std::cout << fmt::format(
        "{} different records, {} of them new to population \"{}\", and of these {} equal to another "
        "population's\n",
        claim->records.tags.size(), found.fresh, ledger.population, found.count);
  }
  const bool fresh = LedgerFile(ledger.file)
                         .Declare({.data = data,
                                   .name = {},
                                   .record = {},
                                   .epsilon_cap = ledger.epsilon_cap,
                                   .delta = ledger.delta,
                                   .before = {},
                                   .mode = ledger.mode,
                                   .population = claim});
  std::cout << fmt::format("{}: data of SHA-256 {} {} population \"{}\"\n", ledger.file.string(), data,
                           fresh ? "now belongs to" : "belonged already to", ledger.population);
  return kDone;
}

}  // namespace trefoil::runtime
