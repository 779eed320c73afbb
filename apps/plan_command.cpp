#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "apps/command.h"
#include "apps/error_report.h"
#include "apps/job.h"
#include "apps/machine_check.h"
#include "apps/privacy_statement.h"
#include "apps/progress.h"
#include "apps/task.h"
#include "apps/training_settings.h"
#include "base/error.h"
#include "dp/json_number.h"
#include "ml/run_cost.h"
#include "ml/training.h"

namespace trefoil::apps {
namespace {

using Json = nlohmann::ordered_json;

struct PlanOptions {
  std::string job;
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
std::vector<FormCost> CostsOf(const Job& job, const std::optional<protocols::Link>& link) {
  const auto settings = SettingsOf(job);
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
double MemoryOf(const Job& job) {
  const auto plan = ml::MakeStepPlan(SettingsOf(job));
  return std::max({LeastMemory(job, plan, 0), LeastMemory(job, plan, 1), LeastMemory(job, plan, 2)});
}

void PrintJson(const Job& job, const ml::PrivacyPlan& plan, const std::vector<FormCost>& costs,
               const std::vector<StatementEntry>& statement) {
  Json json{{"job", job.name},
            {"job_hash", JobHash(job)},
            {"steps", job.training.steps},
            {"epsilon_outsider", dp::NumberOrNull(plan.epsilon_outsider)},
            {"epsilon_insider", dp::NumberOrNull(plan.epsilon_insider)},
            {"epsilon_error", plan.epsilon_error},
            {"delta", plan.delta},
            {"accountant", job.privacy.accountant},
            {"sigma", plan.sigma},
            {"sensitivity", plan.sensitivity},
            {"sampling_rate", plan.sampling_rate},
            {"step_costs", Json::array()},
            {"run_costs", Json::array()},
            {"memory_bytes", MemoryOf(job)},
            {"statement", ToJson(statement)}};
  for (const auto& [form, step, run, chosen, seconds] : costs) {
    json["step_costs"].push_back(Json{{"form", form},
                                      {"rounds", step.rounds()},
                                      {"bytes_sent", Most(step.bytes_sent())},
                                      {"bytes_offline", Most(step.bytes_offline())}});
    if (!chosen) continue;
    json["run_costs"].push_back(Json{{"form", form},
                                     {"rounds", run.rounds},
                                     {"bytes_sent", run.bytes_sent},
                                     {"seconds", seconds ? Json(*seconds) : Json(nullptr)}});
  }
  std::cout << json.dump(2) << '\n';
}

void PrintText(const Job& job, const std::vector<FormCost>& costs,
               const std::vector<StatementEntry>& statement) {
  std::cout << fmt::format("Plan of job {}, {} steps; nothing was run.\n\n", job.name, job.training.steps)
            << ToText(statement) << '\n';
  for (const auto& cost : costs) {
    std::cout << fmt::format("A step, {} form: {} rounds; the busiest party sends {}, and {} ahead of it\n",
                             cost.form, cost.step.rounds(), BytesText(Most(cost.step.bytes_sent())),
                             BytesText(Most(cost.step.bytes_offline())));
  }
  for (const auto& [form, step, run, chosen, seconds] : costs) {
    if (!chosen) continue;
    std::cout << fmt::format("The run, {} form: {} rounds; the parties send {}, {} and {}", form, run.rounds,
                             BytesText(run.bytes_sent[0]), BytesText(run.bytes_sent[1]),
                             BytesText(run.bytes_sent[2]));
    if (seconds) std::cout << "; about " << SecondsText(*seconds) << " on this link";
    std::cout << '\n';
  }
  std::cout << fmt::format("A party needs {} of memory at least\n",
                           BytesText(static_cast<std::uint64_t>(MemoryOf(job))));
}

/// What a task promises; its cost is that of a few rounds.
int RunTaskPlan(const PlanOptions& options) {
  if (options.rtt_ms || options.mbit) {
    throw ConfigError(options.job +
                      ": found another job than a training, expected one with --rtt-ms and --mbit: time is "
                      "predicted of trainings, the others take a few rounds");
  }
  const auto task = ReadTask(options.job, options.assignments);
  const auto events = task->Events();
  const auto statement =
      PrivacyStatement({.record = {.job_hash = TaskHash(*task), .run_id = {}, .events = events},
                        .delta = task->delta(),
                        .warnings = task->Warnings(),
                        .unit = task->Unit()});
  if (options.json) {
    const auto epsilons = PlannedEpsilons(*task);
    std::cout << Json{{"job", task->name()},
                      {"job_hash", TaskHash(*task)},
                      {"epsilon_outsider", dp::NumberOrNull(epsilons.outsider)},
                      {"epsilon_insider", dp::NumberOrNull(epsilons.insider)},
                      {"delta", task->delta()},
                      {"statement", ToJson(statement)}}
                     .dump(2)
              << '\n';
  } else {
    std::cout << fmt::format("Plan of job {}: {}; nothing was run.\n\n", task->name(), task->Title())
              << ToText(statement);
  }
  return kDone;
}

int RunPlan(const PlanOptions& options) {
  if (IsTask(options.job)) return RunTaskPlan(options);
  const auto job = ReadJob(options.job, options.assignments);
  const auto plan = ml::MakePlan(SettingsOf(job));
  const auto statement =
      PrivacyStatement({.record = {.job_hash = JobHash(job), .run_id = {}, .events = plan.events},
                        .delta = plan.delta,
                        .accountant = dp::AccountantNamed(job.privacy.accountant),
                        .warnings = PrivacyWarnings(job)});
  const auto costs = CostsOf(job, LinkOf(options));
  if (options.json) {
    PrintJson(job, plan, costs, statement);
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
