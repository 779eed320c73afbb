#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "apps/cli/command.h"
#include "base/error.h"
#include "base/error_report.h"
#include "base/sha256.h"
#include "dp/record/json_number.h"
#include "jobs/dpsgd/settings.h"
#include "jobs/dpsgd/training_settings.h"
#include "jobs/job.h"
#include "jobs/predict/settings.h"
#include "jobs/predict/shared_classifier.h"
#include "jobs/statement/amount_text.h"
#include "jobs/statement/cost_statement.h"
#include "jobs/statement/privacy_statement.h"
#include "ml/dpsgd/training.h"
#include "ml/plan/run_cost.h"
#include "runtime/machine_check.h"
#include "runtime/observe/progress.h"

namespace trefoil::apps {
namespace {

using Json = nlohmann::ordered_json;

struct PlanOptions {
  std::string job;
  std::string model_job;
  std::vector<std::string> assignments;
  std::optional<double> rtt_ms;
  std::optional<double> mbit;
  bool json = false;
};

/// What a job is declared to cost in one form of comparison.
struct FormCost {
  std::string form;
  mpc::Cost step;
  ml::RunCost run;
  bool chosen = true;             ///< whether a run may take this form; on a known link one does
  std::optional<double> seconds;  ///< of the run, where the link is known
};

std::optional<protocols::Link> LinkOf(const PlanOptions& options) {
  if (options.rtt_ms.has_value() != options.mbit.has_value()) {
    throw ConfigError(options.rtt_ms ? "--rtt-ms: found without --mbit, expected both or neither"
                                     : "--mbit: found without --rtt-ms, expected both or neither");
  }
  if (!options.rtt_ms) return {};
  return protocols::Link{.message_seconds = *options.rtt_ms / 2000,
                         .bytes_per_second = *options.mbit * 1e6 / 8};
}

/// In each form that the job allows.
std::vector<FormCost> CostsOf(const jobs::DpsgdSettings& job, const std::optional<protocols::Link>& link) {
  const auto settings = jobs::SettingsOf(job);
  const auto chosen = link ? std::vector{ml::PlannedForm(settings, *link)}
                           : std::vector{protocols::Form::kLatency, protocols::Form::kBulk};
  std::vector<FormCost> costs;
  for (const auto& [name, form] :
       {std::pair{"latency", protocols::Form::kLatency}, std::pair{"bulk", protocols::Form::kBulk}}) {
    if (settings.comparison && *settings.comparison != form) continue;
    FormCost cost{.form = name,
                  .step = ml::PlannedStepCost(settings, form),
                  .run = ml::PlannedRunCost(settings, form),
                  .chosen = std::find(chosen.begin(), chosen.end(), form) != chosen.end(),
                  .seconds = {}};
    if (link) cost.seconds = ml::PlannedRunSeconds(settings, form, *link);
    costs.push_back(std::move(cost));
  }
  return costs;
}

/// By the party that sends most.
std::uint64_t Most(const std::array<std::uint64_t, net::kParties>& bytes) {
  return *std::max_element(bytes.begin(), bytes.end());
}

/// At the party that needs most, at least.
double MemoryOf(const jobs::DpsgdSettings& job) {
  const auto plan = ml::MakeStepPlan(jobs::SettingsOf(job));
  return std::max({runtime::LeastMemory(job, plan, 0), runtime::LeastMemory(job, plan, 1),
                   runtime::LeastMemory(job, plan, 2)});
}

void PrintJson(const jobs::DpsgdSettings& job, const ml::PrivacyPlan& plan,
               const std::vector<FormCost>& costs, const std::vector<jobs::RowsEpsilon>& rows,
               const std::vector<jobs::StatementEntry>& statement) {
  Json json{{"job", job.name},
            {"job_hash", jobs::DpsgdHash(job)},
            {"steps", job.training.steps},
            {"epsilon_outsider", dp::NumberOrNull(plan.epsilon_outsider)},
            {"epsilon_insider", dp::NumberOrNull(plan.epsilon_insider)},
            {"epsilon_error", plan.epsilon_error},
            {"delta", plan.delta},
            {"accountant", job.privacy.accountant},
            {"sigma", plan.sigma},
            {"sensitivity", plan.sensitivity},
            {"sampling_rate", plan.sampling_rate},
            {"rows", ToJson(rows)},
            {"step_costs", Json::array()},
            {"run_costs", Json::array()},
            {"memory_bytes", MemoryOf(job)},
            {"statement", ToJson(statement)}};
  const dp::TrainingRecord record{.job_hash = {}, .run_id = {}, .events = plan.events};
  const auto accountant = dp::AccountantNamed(job.privacy.accountant);
  if (const auto presence = dp::PresenceEpsilon(record, plan.delta, accountant))
    json["epsilon_insider_presence"] = dp::NumberOrNull(*presence);
  for (const auto& [form, step, run, chosen, seconds] : costs) {
    json["step_costs"].push_back(Json{{"form", form},
                                      {"rounds", step.rounds()},
                                      {"bytes_sent", Most(step.bytes_sent())},
                                      {"bytes_offline", Most(step.bytes_offline())}});
    if (!chosen) continue;
    json["run_costs"].push_back(ToJson(jobs::PlannedRun{.form = form, .cost = run, .seconds = seconds}));
  }
  std::cout << json.dump(2) << '\n';
}

void PrintText(const jobs::DpsgdSettings& job, const std::vector<FormCost>& costs,
               const std::vector<jobs::StatementEntry>& statement) {
  std::cout << fmt::format("Plan of job {}, {} steps; nothing was run.\n\n", job.name, job.training.steps)
            << ToText(statement) << '\n';
  for (const auto& cost : costs) {
    std::cout << fmt::format("A step, {} form: {} rounds; the busiest party sends {}, and {} ahead of it\n",
                             cost.form, cost.step.rounds(), jobs::BytesText(Most(cost.step.bytes_sent())),
                             jobs::BytesText(Most(cost.step.bytes_offline())));
  }
  for (const auto& [form, step, run, chosen, seconds] : costs) {
    if (!chosen) continue;
    std::cout << ToText(jobs::PlannedRun{.form = form, .cost = run, .seconds = seconds});
  }
  std::cout << jobs::MemoryText(MemoryOf(job));
}

double MostMemory(const std::array<double, net::kParties>& memory) {
  return *std::max_element(memory.begin(), memory.end());
}

/// Of a job that is neither a training nor a prediction.
int RunTaskPlan(const PlanOptions& options, const std::optional<protocols::Link>& link) {
  const auto task = jobs::ReadJob(options.job, options.assignments);
  const auto events = task->Events();
  const dp::TrainingRecord record{
      .job_hash = jobs::HashOf(*task), .run_id = {}, .events = events, .promise = jobs::PromiseOf(*task)};
  const auto rows = jobs::EpsilonsOfRows(record, task->delta(), task->accountant(), task->MostUnits());
  const auto statement = jobs::PrivacyStatement(
      {.record = record, .delta = task->delta(), .accountant = task->accountant(), .rows = rows});
  const auto cost = task->Plan(link);
  const auto& run = cost.forms.front();
  if (options.json) {
    const auto epsilons = task->Epsilons();
    std::cout << Json{{"job", task->name()},
                      {"job_hash", jobs::HashOf(*task)},
                      {"epsilon_outsider", dp::NumberOrNull(epsilons.outsider)},
                      {"epsilon_insider", dp::NumberOrNull(epsilons.insider)},
                      {"epsilon_error", epsilons.error},
                      {"delta", task->delta()},
                      {"accountant", dp::NameOf(task->accountant())},
                      {"rows", ToJson(rows)},
                      {"run_costs", Json::array({ToJson(run)})},
                      {"memory_bytes", MostMemory(*cost.memory)},
                      {"statement", ToJson(statement)}}
                     .dump(2)
              << '\n';
  } else {
    std::cout << fmt::format("Plan of job {}: {}; nothing was run.\n\n", task->name(), task->Title())
              << ToText(statement) << '\n'
              << ToText(run);
    if (!cost.apart.empty()) std::cout << fmt::format("Not counted in any time: {}\n", cost.apart);
    std::cout << jobs::MemoryText(MostMemory(*cost.memory));
  }
  return kDone;
}

/// The records that a model in shares is for, from the job that makes it.
jobs::DpsgdSettings ModelOf(const std::string& file) {
  const auto refuse = [&](const std::string& found) {
    return ConfigError(fmt::format(
        "{}: {}, expected the job of a training, an average or a transfer whose model stays in shares", file,
        found));
  };
  if (jobs::IsPredictJob(file)) throw refuse("type: found \"predict\"");
  if (jobs::IsRegisteredJob(file)) {
    try {
      return jobs::ReadJob(file)->SharedSchema();
    } catch (const ConfigError& error) {
      throw refuse(error.what());
    }
  }
  auto job = jobs::ReadDpsgdSettings(file);
  if (!job.release.to.empty()) throw refuse("release.to: found parties that get the model");
  return job;
}

/// In each form that a run may take: one, where nothing depends on it or the link is known.
std::vector<jobs::PlannedRun> RunsOf(const jobs::PredictSettings& job, const jobs::DpsgdSettings& model,
                                     const std::optional<protocols::Link>& link) {
  using protocols::Form;
  if (!ml::IsNetwork(ml::MakeStepPlan(jobs::ClassifierSettings(model))))
    return {jobs::PlanRun(jobs::ClassifyBySharesCost(job, model, Form::kBulk), "", link)};
  const auto comparison = jobs::ClassifierSettings(model).comparison;
  std::vector<jobs::PlannedRun> runs;
  for (const auto& [name, form] : {std::pair{"latency", Form::kLatency}, std::pair{"bulk", Form::kBulk}}) {
    if (comparison ? *comparison != form : link && jobs::ClassifierForm(job, model, *link) != form) continue;
    runs.push_back(jobs::PlanRun(jobs::ClassifyBySharesCost(job, model, form), name, link));
  }
  return runs;
}

int RunPredictionPlan(const PlanOptions& options, const std::optional<protocols::Link>& link) {
  const auto job = jobs::ReadPredictSettings(options.job, options.assignments);
  std::vector<jobs::PlannedRun> runs;
  std::optional<double> memory;
  if (!options.model_job.empty()) {
    const auto model = ModelOf(options.model_job);
    runs = RunsOf(job, model, link);
    memory = MostMemory(jobs::ClassifyBySharesCost(job, model, protocols::Form::kBulk).memory);
  }
  if (options.json) {
    Json json{
        {"job", job.name}, {"job_hash", Sha256Hex(jobs::PredictJson(job))}, {"run_costs", Json::array()}};
    for (const auto& run : runs) json["run_costs"].push_back(ToJson(run));
    json["memory_bytes"] = memory ? Json(*memory) : Json(nullptr);
    std::cout << json.dump(2) << '\n';
    return kDone;
  }
  std::cout << fmt::format("Plan of job {}: {}; nothing was run.\n\n", job.name, jobs::PredictJobTitle(job))
            << "Predictions are post-processing of the training, whose epsilon covers them.\n\n";
  for (const auto& run : runs) std::cout << ToText(run);
  std::cout << (memory ? jobs::MemoryText(*memory)
                       : "What it costs depends on the model: --model-job names the job that made it\n");
  return kDone;
}

int RunPlan(const PlanOptions& options) {
  const auto link = LinkOf(options);
  if (jobs::IsPredictJob(options.job)) return RunPredictionPlan(options, link);
  if (!options.model_job.empty())
    throw ConfigError("--model-job: found with a job that is no prediction, expected a job of type predict");
  if (jobs::IsRegisteredJob(options.job)) return RunTaskPlan(options, link);
  const auto job = jobs::ReadDpsgdSettings(options.job, options.assignments);
  const auto plan = ml::MakePlan(jobs::SettingsOf(job));
  const dp::TrainingRecord record{
      .job_hash = jobs::DpsgdHash(job), .run_id = {}, .events = plan.events, .promise = jobs::PromiseOf(job)};
  const auto accountant = dp::AccountantNamed(job.privacy.accountant);
  const auto rows = jobs::EpsilonsOfRows(record, plan.delta, accountant);
  const auto statement =
      jobs::PrivacyStatement({.record = record, .delta = plan.delta, .accountant = accountant, .rows = rows});
  const auto costs = CostsOf(job, link);
  if (options.json) {
    PrintJson(job, plan, costs, rows, statement);
  } else {
    PrintText(job, costs, statement);
  }
  return kDone;
}

}  // namespace

void AddPlan(CLI::App& program, Action& action) {
  auto options = std::make_shared<PlanOptions>();
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
  command->add_flag("--json", options->json, "Print JSON");
  command->callback([options, &action] { action = [options] { return RunPlan(*options); }; });
}

}  // namespace trefoil::apps
