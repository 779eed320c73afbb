#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <iostream>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "apps/cli/command.h"
#include "base/error.h"
#include "base/error_report.h"
#include "base/files/files.h"
#include "dp/record/json_number.h"
#include "jobs/statement/bound_text.h"
#include "jobs/statement/unit_text.h"
#include "jobs/statement/vertical_statement.h"
#include "runtime/ledger/ledger_file.h"
#include "runtime/ledger/ledger_open.h"
#include "runtime/observe/session_log.h"

namespace trefoil::apps {
namespace {

using Json = nlohmann::ordered_json;

struct LedgerOptions {
  std::string file;
  std::optional<double> delta;
  bool json = false;
  std::string contains;
};

/// A job as it is shown: what it is charged, and why that.
struct ShownJob {
  const dp::LedgerJob& job;
  std::string state;
  dp::EpsilonPair alone;
  std::int64_t steps = 0;  ///< charged
  jobs::FirstEpsilon first = jobs::FirstEpsilon::kOutsider;
};

std::string StateOf(const dp::LedgerJob& job, bool may_be_alive) {
  if (job.ended) return dp::ToText(*job.ended);
  return may_be_alive ? "running" : "died";
}

/// By the ledger's filter, as if there were nothing else.
dp::EpsilonPair Alone(const dp::FilterTerms& terms, const dp::TrainingRecord& record) {
  dp::PrivacyFilter outsider(terms);
  dp::PrivacyFilter insider(terms);
  outsider.Add(dp::FilterCharges(record, false));
  insider.Add(dp::FilterCharges(record, true));
  return {std::min(outsider.Epsilon(), insider.Epsilon()), insider.Epsilon()};
}

std::vector<ShownJob> JobsOf(const runtime::LedgerView& view, double delta) {
  std::vector<ShownJob> shown;
  for (std::size_t k = 0; k < view.ledger.jobs().size(); ++k) {
    const auto& job = view.ledger.jobs()[k];
    const auto& charged = dp::Ledger::Charged(job, view.may_be_alive[k]);
    shown.push_back({.job = job,
                     .state = StateOf(job, view.may_be_alive[k]),
                     .alone = Alone(view.ledger.TermsAt(delta), charged),
                     .steps = dp::StepsIn(charged),
                     .first = jobs::FirstOf(charged)});
  }
  return shown;
}

std::string Shown(const dp::EpsilonPair& epsilons, jobs::FirstEpsilon first) {
  return jobs::InOrder(jobs::ListedEpsilonText(epsilons.outsider), jobs::ListedEpsilonText(epsilons.insider),
                       first);
}

/// The ledger's own; without one that of the newest reservation; unless another one is asked for.
double DeltaOf(const LedgerOptions& options, const runtime::LedgerView& view) {
  if (options.delta) {
    if (!(*options.delta > 0 && *options.delta < 1))
      throw ConfigError(
          fmt::format("--delta: found {}, expected a number above 0 and below 1", *options.delta));
    return *options.delta;
  }
  if (view.ledger.terms()) return view.ledger.terms()->delta;
  if (view.ledger.jobs().empty())
    throw ConfigError(options.file + ": has no jobs yet, whose delta could be taken, expected --delta");
  return view.ledger.jobs().back().delta;
}

/// Whom a job's epsilons are for.
std::string PromiseText(const dp::TrainingRecord& record) {
  if (!record.promise) return "unit not stated";
  return fmt::format("unit {}, neighbours {}", jobs::UnitName(record), jobs::NeighboursName(record));
}

/// What each job may execute at most: of those that a closed ledger charges, too, and that no run has
/// executed.
std::vector<const dp::TrainingRecord*> RecordsOf(const dp::Ledger& ledger) {
  std::vector<const dp::TrainingRecord*> records;
  for (const auto& job : ledger.entered()) {
    if (job.run_id.empty()) records.push_back(&job.record);
  }
  for (const auto& job : ledger.jobs()) records.push_back(&job.reserved);
  return records;
}

/// Of all jobs together: as one of them has it.
jobs::FirstEpsilon FirstOfAll(const dp::Ledger& ledger) {
  const auto records = RecordsOf(ledger);
  const bool any = std::any_of(records.begin(), records.end(), [](const dp::TrainingRecord* record) {
    return jobs::FirstOf(*record) == jobs::FirstEpsilon::kInsider;
  });
  return any ? jobs::FirstEpsilon::kInsider : jobs::FirstEpsilon::kOutsider;
}

/// Where jobs promise different things, what holds of all of them is less than it seems.
std::string UnitsText(const dp::Ledger& ledger) {
  const auto records = RecordsOf(ledger);
  const bool same = std::all_of(records.begin(), records.end(), [&](const dp::TrainingRecord* record) {
    return PromiseText(*record) == PromiseText(*records.front());
  });
  if (same) return "";
  return "note     units or neighbours of the jobs differ: the epsilon together is for data sets that are "
         "neighbours in all of them\n";
}

/// The same for programs; null where it is not stated.
void AddPromise(Json& job, const dp::TrainingRecord& record) {
  job["unit"] = record.promise ? Json(jobs::UnitName(record)) : Json(nullptr);
  job["neighbours"] = record.promise ? Json(jobs::NeighboursName(record)) : Json(nullptr);
  job["warnings"] = record.promise ? Json(record.promise->warnings) : Json(nullptr);
}

/// The jobs of a closed ledger, run or not.
Json EnteredJson(const dp::Ledger& ledger) {
  auto entered = Json::array();
  for (const auto& job : ledger.entered()) {
    entered.push_back({{"time", job.time}, {"name", job.name}, {"job_hash", job.record.job_hash}});
    entered.back()["run_id"] = job.run_id.empty() ? Json(nullptr) : Json(job.run_id);
    AddPromise(entered.back(), job.record);
  }
  return entered;
}

Json PopulationJson(const dp::Ledger& ledger) {
  Json population{{"name", ledger.population()}, {"data", Json::array()}};
  for (const auto& member : ledger.members()) {
    population["data"].push_back(
        {{"time", member.time}, {"sha256", member.sha256}, {"equal_by_chance", member.equal_by_chance}});
  }
  return population;
}

/// Whose budget it is, where it is not of one data set.
std::string PopulationText(const dp::Ledger& ledger) {
  if (ledger.population().empty()) return "";
  auto text = fmt::format("people   of population \"{}\", data sets declared: {}\n",
                          OneLine(ledger.population()), ledger.members().size());
  for (const auto& member : ledger.members()) {
    text += fmt::format(
        "{}  declared SHA-256 {}{}\n", OneLine(member.time), OneLine(member.sha256),
        member.equal_by_chance ? ", records equal to another population's said to be so by chance" : "");
  }
  const auto records = RecordsOf(ledger);
  const bool replaced = std::any_of(records.begin(), records.end(), [](const dp::TrainingRecord* record) {
    return record->promise && record->promise->neighbours == dp::Neighbours::kReplaced;
  });
  if (replaced)
    text +=
        "note     jobs of neighbours replaced are for somebody whose records in all data sets are other "
        "ones, "
        "not for somebody who is in none of them\n";
  return text;
}

/// What the ledger's figures rest on.
std::string FilterText(const dp::FilterTerms& terms) {
  if (terms.mode == dp::FilterMode::kClosed)
    return "closed: all jobs were entered before the first result, and are composed by their loss "
           "distributions";
  if (terms.mode == dp::FilterMode::kGdp)
    return "gdp: a filter for plain Gaussians, whose jobs may depend on the results of those before";
  return fmt::format(
      "rdp: a filter by RDP at orders {}, whose jobs may depend on the results of those before",
      fmt::join(terms.orders, ", "));
}

/// Where the cap of a later job was above that of one before, the promise is for less than it seems.
std::string CapText(const dp::Ledger& ledger) {
  double least = std::numeric_limits<double>::infinity();
  double most = 0;
  bool raised = false;
  for (const auto& job : ledger.jobs()) {
    raised = raised || job.epsilon_cap > least;
    least = std::min(least, job.epsilon_cap);
    most = std::max(most, job.epsilon_cap);
  }
  if (!raised) return "";
  return fmt::format(
      "note     the cap was raised after jobs had run, to {} at most: a filter's promise is for a "
      "cap that was fixed without looking at results\n",
      most);
}

void PrintJson(const runtime::LedgerView& view, const std::vector<ShownJob>& jobs, const dp::EpsilonPair& all,
               double delta) {
  Json json{{"data", view.ledger.data()}, {"lines", view.lines}, {"hash", view.head}, {"delta", delta}};
  if (!view.ledger.population().empty()) json["population"] = PopulationJson(view.ledger);
  json["filter"] = Json::parse(dp::ToJson(view.ledger.TermsAt(delta)).dump());
  json["epsilon_outsider"] = dp::NumberOrNull(all.outsider);
  json["epsilon_insider"] = dp::NumberOrNull(all.insider);
  json["jobs"] = Json::array();
  for (const auto& shown : jobs) {
    Json job{{"time", shown.job.time},
             {"name", shown.job.name},
             {"run_id", shown.job.reserved.run_id},
             {"job_hash", shown.job.reserved.job_hash},
             {"state", shown.state},
             {"steps", shown.steps},
             {"steps_reserved", dp::StepsIn(shown.job.reserved)}};
    job["epsilon_outsider"] = dp::NumberOrNull(shown.alone.outsider);
    job["epsilon_insider"] = dp::NumberOrNull(shown.alone.insider);
    AddPromise(job, shown.job.reserved);
    json["jobs"].push_back(job);
  }
  if (!view.ledger.entered().empty()) json["entered"] = EnteredJson(view.ledger);
  std::cout << json.dump(2, ' ', true) << '\n';
}

/// Nothing of a job that has no steps, whose release is one event.
std::string StepsText(const ShownJob& shown) {
  const auto reserved = dp::StepsIn(shown.job.reserved);
  return reserved == 0 ? "" : fmt::format("{} of {} steps, ", shown.steps, reserved);
}

void PrintText(const runtime::LedgerView& view, const std::vector<ShownJob>& jobs, const dp::EpsilonPair& all,
               double delta) {
  std::cout << fmt::format(
      "data     SHA-256 {}\n{}ledger   {} lines, the newest with hash {}\nfilter   {}\n{}{}",
      OneLine(view.ledger.data()), PopulationText(view.ledger), view.lines, view.head,
      FilterText(view.ledger.TermsAt(delta)), CapText(view.ledger), UnitsText(view.ledger));
  for (const auto& job : view.ledger.entered()) {
    if (job.run_id.empty())
      std::cout << OneLine(fmt::format("{}  {:<8} charged, not run, {}: {}", job.time, "entered",
                                       PromiseText(job.record), job.name))
                << '\n';
  }
  for (const auto& shown : jobs) {
    std::cout << OneLine(fmt::format("{}  {:<8} {}epsilon {}: {}, {}, run {}", shown.job.time, shown.state,
                                     StepsText(shown), Shown(shown.alone, shown.first), shown.job.name,
                                     PromiseText(shown.job.reserved), shown.job.reserved.run_id))
              << '\n';
  }
  std::cout << fmt::format("together epsilon {}, delta {}: the records composed, not epsilons added\n",
                           Shown(all, FirstOfAll(view.ledger)), jobs::DeltaText(delta));
}

int Show(const LedgerOptions& options) {
  const auto view = runtime::ReadLedger(options.file);
  const double delta = DeltaOf(options, view);
  const auto jobs = JobsOf(view, delta);
  const auto all =
      view.ledger.Spent(view.ledger.TermsAt(delta), [&](std::size_t job) { return view.may_be_alive[job]; });
  if (options.json) {
    PrintJson(view, jobs, all, delta);
  } else {
    PrintText(view, jobs, all, delta);
  }
  return kDone;
}

/// Throws DataError unless the file, which was read and found whole, has the line that was noted before.
void RequireLine(const LedgerOptions& options) {
  if (options.contains.empty()) return;
  const auto text = ReadTextFile(options.file, "a ledger or an audit log", kLargestOwnFile);
  if (text.find(fmt::format("\"hash\":\"{}\"}}\n", options.contains)) != std::string::npos) return;
  throw DataError(fmt::format("{}: found no line with hash {}, expected one: lines were cut off its end",
                              options.file, options.contains));
}

void SayTorn(std::size_t torn, std::size_t lines) {
  if (torn > 0)
    std::cout << fmt::format("line {} was not written to its end and does not count\n", lines + 1);
}

int VerifyAuditLog(const LedgerOptions& options) {
  const auto view = runtime::ReadAuditLog(options.file);
  RequireLine(options);
  std::cout << fmt::format("{}: {} lines, {} sessions, {} releases, unbroken; the newest line has hash {}\n",
                           options.file, view.lines, view.sessions, view.releases, view.head);
  if (view.open > 0) {
    std::cout << fmt::format(
        "sessions without an end: {}: under way, or killed, or lines were cut off: compare the newest hash\n",
        view.open);
  }
  SayTorn(view.torn, view.lines);
  return kDone;
}

int Verify(const LedgerOptions& options) {
  if (runtime::IsAuditLog(options.file)) return VerifyAuditLog(options);
  const auto view = runtime::ReadLedger(options.file);
  RequireLine(options);
  std::cout << fmt::format("{}: {} lines, {} jobs, unbroken; the newest line has hash {}\n", options.file,
                           view.lines, view.ledger.jobs().size(), view.head);
  SayTorn(view.torn, view.lines);
  return kDone;
}

void AddDeclare(CLI::App& declare, const std::shared_ptr<runtime::LedgerOpenOptions>& options,
                Action& action) {
  declare.add_flag("--equal-by-chance", options->equal_by_chance,
                   "Records that another population has, too, are of others, and equal by chance");
  declare.callback([options, &action] { action = [options] { return runtime::DeclareData(*options); }; });
}

void AddLedgerOpen(CLI::App& command, Action& action, jobs::JobTypes types) {
  auto options = std::make_shared<runtime::LedgerOpenOptions>();
  options->types = types;
  const auto of_party = [&](CLI::App& one) {
    one.add_option("--config", options->config, "The party file, whose [ledger] and [data] are meant")
        ->required();
    one.add_flag("--evaluation", options->evaluation, "Its [evaluation_ledger] and [evaluation] instead");
    one.add_option("--input", options->inputs,
                   "KEY=FILE, as data.file=march.csv: a file, by its path from here, in place of those that "
                   "the party file names there; may be repeated")
        ->allow_extra_args(false);
  };
  auto* init = command.add_subcommand("init", "Open a ledger: fix how its jobs are composed");
  of_party(*init);
  init->add_option("--mode", options->mode,
                   "rdp, for any jobs; gdp, for plain Gaussians; closed, for jobs that are all entered first")
      ->check(CLI::IsMember({"rdp", "gdp", "closed"}));
  init->add_option("--orders", options->orders,
                   "RDP orders of mode rdp, as 4,8: fewer cost less, where they suit the cap");
  init->callback([options, &action] { action = [options] { return runtime::InitLedger(*options); }; });
  auto* enter =
      command.add_subcommand("enter", "Enter the jobs of a closed ledger, before the first of them runs");
  of_party(*enter);
  enter->add_option("--job", options->jobs, "A job file; give --job once for each")->required();
  enter
      ->add_option(
          "--lost-steps", options->lost_steps,
          "Steps that a resumed run of each may lose and do again; the default is 0, and with public "
          "sampling there are no others")
      ->check(CLI::Range(INT64_C(0), INT64_C(1) << 40));
  enter->callback([options, &action] { action = [options] { return runtime::EnterJobs(*options); }; });
  auto* declare = command.add_subcommand(
      "declare", "Declare a new file, or a changed one, to be of the population whose ledger it is");
  of_party(*declare);
  AddDeclare(*declare, options, action);
}

}  // namespace

void AddLedger(CLI::App& program, Action& action, jobs::JobTypes types) {
  auto options = std::make_shared<LedgerOptions>();
  auto* command = program.add_subcommand("ledger", "What the jobs on a data set have cost it");
  command->require_subcommand(1);
  AddLedgerOpen(*command, action, types);
  auto* show = command->add_subcommand("show", "Its jobs, and epsilon of all together");
  show->add_option("FILE", options->file, "The ledger, as [ledger] of the party file names it")->required();
  show->add_option("--delta", options->delta,
                   "Delta, above 0 and below 1; the default is the ledger's, or that of the newest job of a "
                   "ledger of 0.1");
  show->add_flag("--json", options->json, "Print JSON");
  show->callback([options, &action] { action = [options] { return Show(*options); }; });
  auto* verify = command->add_subcommand(
      "verify", "Check that no line of a ledger or an audit log was changed, left out or added");
  verify->add_option("FILE", options->file, "The ledger, or audit.jsonl of a run")->required();
  verify->add_option("--contains", options->contains,
                     "The hash of a line that was noted before: whether it is still there");
  verify->callback([options, &action] { action = [options] { return Verify(*options); }; });
}

}  // namespace trefoil::apps
