#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "apps/cli/command.h"
#include "apps/owners/batches_text.h"
#include "base/error.h"
#include "base/error_report.h"
#include "deposit/make_deposit.h"
#include "deposit/on_shares/planned_checks.h"
#include "dp/record/json_number.h"
#include "jobs/advice.h"
#include "jobs/job.h"
#include "jobs/statement/amount_text.h"
#include "jobs/statement/cost_statement.h"
#include "jobs/statement/privacy_statement.h"

namespace trefoil::apps {
namespace {

using Json = nlohmann::ordered_json;

struct PlanOptions {
  std::string job;
  std::string model_job;
  std::vector<std::string> assignments;
  std::optional<double> rtt_ms;
  std::optional<double> mbit;
  std::optional<double> speed;
  std::optional<std::int64_t> deposits;
  int ranks = 1;
  bool json = false;
  jobs::JobTypes types;
};

std::optional<protocols::Link> LinkOf(const PlanOptions& options) {
  if (options.rtt_ms.has_value() != options.mbit.has_value()) {
    throw ConfigError(options.rtt_ms ? "--rtt-ms: found without --mbit, expected both or neither"
                                     : "--mbit: found without --rtt-ms, expected both or neither");
  }
  if (!options.rtt_ms) {
    if (options.speed)
      throw ConfigError("--speed: found without --rtt-ms and --mbit, expected all three or none");
    return {};
  }
  return protocols::Link{.message_seconds = *options.rtt_ms / 2000,
                         .bytes_per_second = *options.mbit * 1e6 / 8,
                         .speed = options.speed.value_or(1)};
}

/// What a job promises of what it is planned to release.
struct Promised {
  dp::EpsilonPair epsilons;
  std::optional<double> presence;
  std::vector<jobs::RowsEpsilon> rows;
  std::vector<jobs::StatementEntry> statement;
};

/// Nothing of a job that charges nothing.
std::optional<Promised> PromisedBy(const jobs::Job& job, const std::vector<dp::RecordedEvent>& events) {
  if (events.empty()) return {};
  const dp::TrainingRecord record{
      .job_hash = jobs::HashOf(job), .run_id = {}, .events = events, .promise = jobs::PromiseOf(job)};
  const auto rows = jobs::EpsilonsOfRows(record, job.delta(), job.accountant(), job.MaxUnits());
  return Promised{
      .epsilons = job.Epsilons(),
      .presence = dp::PresenceEpsilon(record, job.delta(), job.accountant()),
      .rows = rows,
      .statement = jobs::PrivacyStatement(
          {.record = record, .delta = job.delta(), .accountant = job.accountant(), .rows = rows})};
}

/// By the party that sends most.
std::uint64_t Max(const std::array<std::uint64_t, net::kParties>& bytes) {
  return *std::max_element(bytes.begin(), bytes.end());
}

/// At the party that needs most, at least; nothing where it is not known.
std::optional<double> MemoryOf(const jobs::JobPlan& plan) {
  if (!plan.memory) return {};
  return *std::max_element(plan.memory->begin(), plan.memory->end());
}

/// Bytes of the files that each owner hands in, where owners deposit batches.
std::optional<std::array<std::uint64_t, net::kParties>> DepositBytes(const jobs::Job& job) {
  const auto* records = job.Records();
  const auto rows = records != nullptr ? deposit::RowsOfBatches(*records) : std::nullopt;
  if (!rows) return {};
  return deposit::FileBytes(deposit::LayoutOf(*records), *rows);
}

/// What `job` is told of the checks of its deposits; nothing where it has none, or they are not known.
std::optional<jobs::DepositChecks> UseChecks(jobs::Job& job, std::optional<std::int64_t> deposits) {
  if (deposits && !job.WantsStore())
    throw ConfigError("--deposits: found with a job whose rows are no deposits, expected one on deposits");
  if (job.Deposited() == nullptr) {
    if (deposits) throw ConfigError("--deposits: found without --model-job, expected the job of the model");
    return {};
  }
  auto checks = deposit::PlannedChecks(*job.Deposited(), deposits);
  job.UseChecks(checks);
  return checks;
}

std::string ChecksText(const jobs::DepositChecks& checks) {
  return fmt::format(
      "Counted as part of it: the checks of {} deposit{} of {} rows each. This is assumed (--deposits): a "
      "run costs\nthat if it finds as many and as large ones, and more or less with others\n",
      checks.deposits, checks.deposits == 1 ? "" : "s", checks.rows);
}

Json PlanJson(const jobs::Job& job, const jobs::JobPlan& plan, const std::optional<Promised>& promised,
              const std::optional<jobs::DepositChecks>& checks, int ranks) {
  Json json{{"job", job.name()}, {"job_hash", jobs::HashOf(job)}};
  if (ranks > 1) json["ranks"] = ranks;
  if (promised) {
    json["epsilon_outsider"] = dp::NumberOrNull(promised->epsilons.outsider);
    json["epsilon_insider"] = dp::NumberOrNull(promised->epsilons.insider);
    if (promised->presence) json["epsilon_insider_presence"] = dp::NumberOrNull(*promised->presence);
    json["epsilon_error"] = promised->epsilons.error;
    json["delta"] = job.delta();
    json["accountant"] = dp::NameOf(job.accountant());
    json["rows"] = ToJson(promised->rows);
    json["statement"] = ToJson(promised->statement);
  }
  json.update(plan.figures);
  json["run_costs"] = Json::array();
  for (const auto& run : plan.forms) {
    if (run.chosen) json["run_costs"].push_back(ToJson(run));
    if (run.step)
      json["step_costs"].push_back(Json{{"form", run.form},
                                        {"rounds", run.step->rounds()},
                                        {"bytes_sent", Max(run.step->bytes_sent())},
                                        {"bytes_offline", Max(run.step->bytes_offline())}});
  }
  if (checks) json["assumed_deposits"] = {{"deposits", checks->deposits}, {"rows", checks->rows}};
  const auto memory = MemoryOf(plan);
  if (const auto bytes = DepositBytes(job)) json["deposit_bytes"] = *bytes;
  json["memory_bytes"] = memory ? Json(*memory) : Json(nullptr);
  json["advice"] = jobs::AdviceOn(job, promised ? promised->epsilons : dp::EpsilonPair());
  return json;
}

std::string PlanText(const jobs::Job& job, const jobs::JobPlan& plan, const std::optional<Promised>& promised,
                     const std::optional<jobs::DepositChecks>& checks, int ranks) {
  auto text = fmt::format("Plan of job {}: {}; nothing was run.\n\n", job.name(), job.Title());
  text += (promised ? ToText(promised->statement) : job.Covered() + '\n') + '\n';
  if (ranks > 1)
    text += fmt::format(
        "Each party has {} machines; what follows is of the first of each, and its links to the others\n",
        ranks);
  for (const auto& run : plan.forms) {
    if (run.step)
      text += fmt::format("A step, {} form: {} rounds; the busiest party sends {}, and {} ahead of it\n",
                          run.form, run.step->rounds(), jobs::BytesText(Max(run.step->bytes_sent())),
                          jobs::BytesText(Max(run.step->bytes_offline())));
  }
  for (const auto& run : plan.forms) {
    if (run.chosen) text += ToText(run);
  }
  if (checks) text += ChecksText(*checks);
  if (!plan.sizes.empty()) text += plan.sizes + '\n';
  if (!plan.before.empty())
    text += fmt::format("Before the session, and not counted in its time: {}\n", plan.before);
  if (!plan.apart.empty()) text += fmt::format("Not counted in any time: {}\n", plan.apart);
  const auto memory = MemoryOf(plan);
  text += memory ? jobs::MemoryText(*memory)
                 : "What it costs depends on the model: --model-job names the job that made it\n";
  if (DepositBytes(job)) text += "\n" + BatchesText(*job.Records());
  for (const auto& line : jobs::AdviceOn(job, promised ? promised->epsilons : dp::EpsilonPair()))
    text += fmt::format("\nNote: {}\n", line);
  return text;
}

int RunPlan(const PlanOptions& options) {
  const auto link = LinkOf(options);
  const auto job = jobs::ReadJob(options.job, options.assignments, options.types);
  if (!options.model_job.empty())
    job->UseModelOf(*jobs::ReadJob(options.model_job, {}, options.types), options.model_job);
  job->UseRanks(options.ranks);
  const auto checks = UseChecks(*job, options.deposits);
  const auto plan = job->Plan(link);
  const auto promised = PromisedBy(*job, plan.events);
  if (options.json) {
    std::cout << PlanJson(*job, plan, promised, checks, options.ranks).dump(2, ' ', true) << '\n';
  } else {
    std::cout << PlanText(*job, plan, promised, checks, options.ranks);
  }
  return kDone;
}

}  // namespace

void AddPlan(CLI::App& program, Action& action, jobs::JobTypes types) {
  auto options = std::make_shared<PlanOptions>();
  options->types = types;
  auto* command = program.add_subcommand(
      "plan", "What a job promises and costs: its privacy statement, rounds and bytes; nothing is run");
  command->add_option("--job", options->job, "The job file")->required();
  command
      ->add_option("--set", options->assignments,
                   "Change a key of the job, as --set privacy.epsilon=1.0; may be repeated")
      ->allow_extra_args(false);
  command->add_option("--model-job", options->model_job,
                      "Of a prediction: the job that made the model, job.toml of its run");
  command
      ->add_option("--rtt-ms", options->rtt_ms,
                   "Round trip between two parties in milliseconds; with --mbit, says what time to expect")
      ->check(CLI::Range(0.0, 60000.0));
  command->add_option("--mbit", options->mbit, "What a party can send, in Mbit/s")
      ->check(CLI::Range(0.001, 1e6));
  command
      ->add_option(
          "--speed", options->speed,
          "With these: how many times as fast as the machine of docs/reference/performance.md (1) the "
          "parties compute; planned over measured time of a short run with trefoil local")
      ->check(CLI::Range(0.01, 100.0));
  command->add_option("--deposits", options->deposits,
                      "Of a job on deposits: how many there are, whose checks are counted; its capacity is "
                      "divided evenly among them (default: as many as its batches, or 3, or more where a run "
                      "opens no deposits so large)");
  command
      ->add_option(
          "--ranks", options->ranks,
          "Machines of each party, as its party file's [party] ranks: costs are of the first of them")
      ->check(CLI::Range(1, 1024));
  command->add_flag("--json", options->json, "Print JSON");
  command->callback([options, &action] { action = [options] { return RunPlan(*options); }; });
}

}  // namespace trefoil::apps
