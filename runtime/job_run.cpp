#include "runtime/job_run.h"

#include <spdlog/fmt/fmt.h>

#include <nlohmann/json.hpp>

#include "base/error_report.h"
#include "base/files.h"
#include "base/hex.h"
#include "base/thread_pool.h"
#include "dp/record/json_number.h"
#include "jobs/files/model_file.h"
#include "jobs/files/share_file.h"
#include "jobs/job.h"
#include "jobs/statement/amount_text.h"
#include "jobs/statement/bound_text.h"
#include "runtime/ledger/run_budget.h"
#include "runtime/machine_check.h"
#include "runtime/mesh_setup.h"
#include "runtime/party_session.h"
#include "runtime/run_directory.h"

namespace trefoil::runtime {
namespace {

using Clock = std::chrono::steady_clock;
using Json = nlohmann::ordered_json;

constexpr const char* kModelFile = "model.npz";
constexpr const char* kShareFile = "model.share";

/// Keeps this party's share of a model that nobody gets.
void KeepShare(const PartySession& session, const jobs::Job& task, const jobs::KeptShare& share,
               const dp::TrainingRecord& record) {
  jobs::SaveShare(session.folder() / kShareFile,
                  {.party = session.party().id,
                   .job = share.schema,
                   .task = task.Json(),
                   .record = record,
                   .session = record.run_id,
                   .weights = share.weights},
                  jobs::StorageKey(session.party(), jobs::kModelShare));
}

/// The results of a run in words.
std::string FilesText(const jobs::JobResult& result, const dp::TrainingRecord& record) {
  if (result.share) return fmt::format("released to nobody, {} of run {} ", kShareFile, record.run_id);
  std::string files;
  for (const auto& file : result.files) files += file.name + " ";
  if (result.model) files += std::string(kModelFile) + " ";
  return files.empty() ? "nothing released to this party, " : files;
}

void WriteResults(PartySession& session, const jobs::Job& task, const jobs::JobResult& result,
                  const dp::TrainingRecord& record, const net::Counters& counters, double seconds) {
  const auto epsilons = dp::Epsilons(record, task.delta(), task.accountant());
  const auto bytes_sent = counters.bytes_sent + counters.bytes_offline;
  for (const auto& file : result.files) {
    WriteTextFile(session.folder() / file.name, file.text);
    session.audit().ReleasedFile(file.name, session.folder() / file.name);
  }
  if (result.model) {
    jobs::SaveModel(session.folder() / kModelFile, result.model->model, result.model->schema);
    session.audit().ReleasedFile(kModelFile, session.folder() / kModelFile);
  }
  if (result.share) KeepShare(session, task, *result.share, record);
  Json summary{{"job", task.name()},
               {"type", Json::parse(task.Json()).at("type")},
               {"epsilon_outsider", dp::NumberOrNull(epsilons.outsider)},
               {"epsilon_insider", dp::NumberOrNull(epsilons.insider)},
               {"delta", task.delta()},
               {"accountant", dp::NameOf(task.accountant())},
               {"released_to", task.release_to()},
               {"seconds", seconds},
               {"rounds", counters.rounds},
               {"bytes_sent", bytes_sent},
               {"peak_rss_bytes", PeakMemoryBytes()}};
  summary.update(result.summary);
  if (!task.Warnings().empty()) summary["warnings"] = task.Warnings();
  WriteTextFile(session.folder() / "summary.json", summary.dump(2) + "\n");
  for (const auto& line : result.lines) session.Say(line);
  session.Say(
      fmt::format("done: epsilon {}, delta {}, {} rounds, {} sent, {}in {}",
                  jobs::EpsilonsText(epsilons.outsider, epsilons.insider, jobs::FirstEpsilon::kOutsider),
                  jobs::DeltaText(task.delta()), counters.rounds, jobs::BytesText(bytes_sent),
                  FilesText(result, record), session.folder().string()));
}

class TaskOutput : public jobs::Output {
 public:
  TaskOutput(PartySession& session, RunBudget& budget, dp::TrainingRecord& record)
      : session_(session), budget_(budget), record_(record) {}
  void Reserve(const Events& plan, const Events& /*before*/) override {
    record_.events = plan;
    auto nothing = record_;
    nothing.events.clear();
    for (const auto& line : budget_.Reserve(record_, nothing)) session_.Say(line);
  }
  // Settled with what is about to be opened: whatever happens then, it counts as opened.
  void Settle(const Events& executed) override {
    record_.events = executed;
    budget_.Settle(record_);
    WriteRecord(session_.folder() / "record.json", record_);
  }
  void Cover(const dp::TrainingRecord& /*record*/) override {}
  ml::Resumption Resume(mpc::Context& /*party*/) override { return {}; }
  void Announce(const Events& /*executed*/, int /*steps*/) override {}
  void Step(const ml::StepReport& /*report*/) override {}
  void BeginStep(int /*step*/) override {}
  void Keep(const ml::Checkpoint& /*checkpoint*/) override {}
  void BeginRelease() override {}
  void BeginEvaluation() override {}

 private:
  PartySession& session_;
  RunBudget& budget_;
  dp::TrainingRecord& record_;
};

void RunConnected(PartySession& session, jobs::Job& task, RunBudget& budget, net::MeshTransport& mesh,
                  std::size_t threads) {
  const auto start = Clock::now();
  ThreadPool pool(ThreadsFor(threads));
  mpc::Context context(mesh, AgreeOnSessionKeys(mesh), pool);
  dp::TrainingRecord record{.job_hash = jobs::HashOf(task),
                            .run_id = ToHex(mesh.session()),
                            .events = task.Events(),
                            .promise = jobs::PromiseOf(task)};
  TaskOutput output(session, budget, record);
  const auto result = task.Run(context, output);
  WriteResults(session, task, result, record, mesh.counters(),
               std::chrono::duration<double>(Clock::now() - start).count());
}

/// All that comes before the peers are met.
void Prepare(PartySession& session, jobs::Job& task, std::optional<RunBudget>& budget,
             const RunOptions& options) {
  const auto planned = task.Epsilons();
  if (task.release_to().empty()) (void)jobs::StorageKey(session.party(), jobs::kModelShare);
  const auto loaded =
      jobs::LoadInputs(task, session.party(), options.config, {.threads = options.threads}).said;
  budget.emplace(
      session.party(),
      BudgetedJob{.name = task.name(), .job_hash = jobs::HashOf(task), .uncovered = task.Uncovered()});
  session.Open({.name = task.name(), .hash = jobs::HashOf(task), .toml = jobs::TomlOf(task)});
  session.Say(fmt::format("job {}: {}", task.name(), task.Title()));
  session.Say(
      fmt::format("epsilon {}, delta {}, at most",
                  jobs::EpsilonsText(planned.outsider, planned.insider, jobs::FirstEpsilon::kOutsider),
                  jobs::DeltaText(task.delta())));
  for (const auto& warning : task.Warnings()) session.Warn(warning);
  const auto self = static_cast<std::size_t>(session.party().id);
  RequireDisk(session.folder(), task.Plan({}).disk.at(self), "the release");
  session.Log("data: " + loaded);
}

}  // namespace

int RunJob(const RunOptions& options) {
  const auto task = jobs::ReadJob(options.job);
  PartySession session(
      jobs::ReadParty(options.config),
      options.out.empty() ? DefaultRunDirectory(task->name()) : std::filesystem::path(options.out),
      options.config);
  CheckRunDirectory(session.folder());
  auto config = MeshConfigOf(session.party(), task->Json());
  std::optional<RunBudget> budget;
  try {
    Prepare(session, *task, budget, options);
  } catch (const std::exception& error) {
    return session.FailBeforeStart(error, config);
  }
  try {
    auto& mesh = session.Connect(std::move(config));
    session.watch().Run(StopWhen::kAtOnce,
                        [&] { RunConnected(session, *task, *budget, mesh, options.threads); });
    session.Done();
    return kDone;
  } catch (const std::exception& error) {
    const auto* lost = dynamic_cast<const NetworkError*>(&error);
    const auto cause =
        lost != nullptr ? ExplainLoss(*lost, "while computing", session.connected()) : CauseOf(error);
    const int code = session.Fail(error, cause);
    budget->StopOrLog([&](const std::string& line) { session.Log(line); });
    return code;
  }
}

}  // namespace trefoil::runtime
