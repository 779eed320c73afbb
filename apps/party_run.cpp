#include "apps/party_run.h"

#include <spdlog/fmt/fmt.h>

#include <csignal>

#include "apps/error_report.h"
#include "apps/evaluation.h"
#include "apps/held_out_files.h"
#include "apps/hex.h"
#include "apps/mesh_setup.h"
#include "apps/model_file.h"
#include "apps/party_session.h"
#include "apps/progress.h"
#include "apps/run_budget.h"
#include "apps/run_directory.h"
#include "apps/share_file.h"
#include "apps/training_settings.h"
#include "base/error.h"
#include "base/thread_pool.h"
#include "data/repeated_rows.h"

namespace trefoil::apps {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

volatile std::sig_atomic_t stop_signal = 0;

/// The first signal ends the training between two steps; a second one ends the process at once.
void StopBetweenSteps() {
  struct sigaction action {};
  action.sa_handler = [](int signal) { stop_signal = signal; };
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  for (const int signal : {SIGINT, SIGTERM}) sigaction(signal, &action, nullptr);
}

/// All that one run holds on to.
struct Run {
  PartySession session;
  Job job;
  ml::TrainingSettings settings;
  std::optional<SecretKey> storage_key{};  ///< where the model stays in shares
  std::optional<RunBudget> budget{};       ///< once the data has been read
  ml::StepReport last{};                   ///< of the step finished last
};

/// All that this party brings to the training.
struct Records {
  ml::OwnRecords own;
  ml::HeldOutRecords held_out;
};

Records LoadAllRecords(const Run& run, const std::string& party_file, std::size_t threads) {
  if (run.session.party().data.empty()) {
    throw ConfigError(party_file + ": missing [data], expected x and y, or file");
  }
  LoadOptions options{.threads = threads, .feature_model = run.session.party().feature_model};
  Records records{.own = {}, .held_out = LoadHeldOut(run.job, run.session.party(), party_file, options)};
  records.own = LoadOwnRecords(run.job, run.session.party().id, run.session.party().data, options);
  return records;
}

/// How many records repeat an earlier one is the owner's affair: in its own log, and nowhere else.
void LogRepeatedRows(Run& run, const ml::OwnRecords& own) {
  if (run.job.data.vertical) return;
  const auto repeated = data::CountRepeatedRows(own.x, own.y);
  if (repeated == 0) return;
  run.session.Log(
      fmt::format("warning: {} of this party's {} records repeat an earlier one; if several are of one "
                  "person, epsilon is for one of them, but for privacy.unit \"group\"",
                  repeated, own.y.size()));
}

/// Makes the run directory, and says there and on stdout what will be done.
void Announce(Run& run, const ml::PrivacyPlan& plan) {
  run.session.Open(JobToml(run.job));
  run.session.Say(fmt::format("job {}: {} steps, sigma {:.4f}, epsilon {} outsider {} insider, delta {:g}",
                              run.job.name, run.settings.steps, plan.sigma,
                              EpsilonText(plan.epsilon_outsider), EpsilonText(plan.epsilon_insider),
                              plan.delta));
  run.session.Log("job hash " + JobHash(run.job));
  for (const auto& notice : run.session.party().notices) run.session.Say(notice);
  for (const auto& notice : JobNotices(run.job)) run.session.Say(notice);
  for (const auto& warning : PrivacyWarnings(run.job)) run.session.Say("warning: " + warning);
}

void ReportStep(Run& run, ProgressFile& progress, const ml::StepReport& report) {
  run.last = report;
  if (report.step > 0) progress.Append(report);
  run.session.display().Show(report);
  if (report.step == report.steps || report.step % 50 == 0) run.session.Log(ProgressLine(report));
  if (stop_signal != 0)
    throw StoppedError(fmt::format("stopped by signal {} after step {}", int{stop_signal}, report.step));
}

/// The record as it is kept: with the job and the session that it is of.
dp::TrainingRecord Named(const Run& run, dp::TrainingRecord record, const net::MeshTransport& mesh) {
  record.job_hash = JobHash(run.job);
  record.run_id = ToHex(mesh.session());
  return record;
}

void ReserveBudget(Run& run, const dp::TrainingRecord& plan, const net::MeshTransport& mesh) {
  if (const auto line = run.budget->Reserve(Named(run, plan, mesh))) run.session.Say(*line);
}

void KeepRecord(Run& run, const dp::TrainingRecord& record, const net::MeshTransport& mesh) {
  const auto named = Named(run, record, mesh);
  run.budget->Settle(named);
  WriteRecord(run.session.folder() / "record.json", named);
}

/// What the summary says of the evaluation, if there was one.
std::optional<EvaluationSummary> SummaryOf(const ml::TrainingResult& result, const Job& job) {
  if (!result.evaluation) return {};
  const auto epsilons =
      dp::TestSetEpsilons(result.record, job.privacy.delta, dp::AccountantNamed(job.privacy.accountant));
  return EvaluationSummary{.records = result.evaluation->records,
                           .correct = result.evaluation->correct,
                           .sigma = job.evaluation->sigma,
                           .epsilon_outsider = epsilons.outsider,
                           .epsilon_insider = epsilons.insider,
                           .rounds = result.evaluation->rounds,
                           .bytes_sent = result.evaluation->bytes_sent};
}

/// Writes what this party gets of the model, and says what it is.
std::string KeepModel(const Run& run, const ml::TrainingResult& result, const net::MeshTransport& mesh) {
  if (result.model) {
    SaveModel(run.session.folder() / "model.npz", *result.model, run.job);
    return "model.npz";
  }
  if (!result.share) return "no model released to this party";
  const auto record = Named(run, result.record, mesh);
  SaveShare(run.session.folder() / "model.share",
            {.party = run.session.party().id, .job = run.job, .record = record, .weights = *result.share},
            *run.storage_key);
  return "model.share of run " + record.run_id;
}

void WriteResults(Run& run, const ml::TrainingResult& result, const net::MeshTransport& mesh,
                  double seconds) {
  const auto epsilons = dp::Epsilons(result.record, run.job.privacy.delta, run.settings.accountant);
  const auto evaluation = SummaryOf(result, run.job);
  const auto model = KeepModel(run, result, mesh);
  WriteSummary(run.session.folder() / "summary.json",
               {.job = run.job.name,
                .steps = run.settings.steps,
                .epsilon_outsider = epsilons.outsider,
                .epsilon_insider = epsilons.insider,
                .delta = run.job.privacy.delta,
                .sigma = result.plan.sigma,
                .sensitivity = result.plan.sensitivity,
                .accuracy = evaluation ? Accuracy(*evaluation) : std::nullopt,
                .seconds = seconds,
                .rounds = run.last.rounds,
                .bytes_sent = run.last.bytes_sent,
                .peak_rss_bytes = PeakMemoryBytes(),
                .evaluation = evaluation,
                .warnings = PrivacyWarnings(run.job)});
  run.session.display().Finish();
  if (evaluation) run.session.Say(EvaluationLine(*evaluation));
  run.session.Say(fmt::format("done: epsilon {} outsider {} insider, delta {:g}, {} in {}",
                              EpsilonText(epsilons.outsider), EpsilonText(epsilons.insider),
                              run.job.privacy.delta, model, run.session.folder().string()));
}

void TrainConnected(Run& run, net::MeshTransport& mesh, const Records& records, std::size_t threads) {
  const auto start = Clock::now();
  ThreadPool pool(ThreadsFor(threads));
  mpc::Context context(mesh, mpc::AgreeOnKeys(mesh), pool);
  ProgressFile progress(run.session.folder() / "progress.csv");
  StopBetweenSteps();
  const auto result = ml::Train(
      context, run.settings, records.own,
      {.on_step = [&](const ml::StepReport& report) { ReportStep(run, progress, report); },
       .on_record = [&](const dp::TrainingRecord& record) { KeepRecord(run, record, mesh); },
       .on_plan = [&](const dp::TrainingRecord& record) { ReserveBudget(run, record, mesh); },
       .before_steps =
           [&](const dp::TrainingRecord& record) { run.budget->Announce(Named(run, record, mesh)); }},
      records.held_out);
  WriteResults(run, result, mesh, std::chrono::duration<double>(Clock::now() - start).count());
}

/// The error as the operator reads it: "lost party 1 at step 17 of 439: closed the connection".
std::string Explain(const std::exception& error, const Run& run, bool connected) {
  const auto when =
      fmt::format("at step {} of {}", std::min(run.last.step + 1, run.settings.steps), run.settings.steps);
  if (const auto* lost = dynamic_cast<const NetworkError*>(&error))
    return ExplainLoss(*lost, when, connected);
  if (dynamic_cast<const ProtocolError*>(&error) != nullptr) return fmt::format("{}: {}", when, error.what());
  return error.what();
}

/// Where this fails, the ledger has what was announced, and the next job settles it.
void SettleStopped(Run& run) {
  try {
    run.budget->Stop();
  } catch (const std::exception& error) {
    run.session.Log(std::string("ledger: ") + error.what());
  }
}

}  // namespace

int RunParty(const RunOptions& options) {
  const auto job = ReadJob(options.job);
  Run run{
      .session = PartySession(ReadParty(options.config),
                              options.out.empty() ? DefaultRunDirectory(job.name) : fs::path(options.out)),
      .job = job,
      .settings = SettingsOf(job)};
  const auto plan = ml::MakePlan(run.settings);
  CheckRunDirectory(run.session.folder());
  auto config = MeshConfigOf(run.session.party(), JobJson(run.job));
  if (run.settings.release_to.empty()) run.storage_key = StorageKey(run.session.party());
  const auto records = LoadAllRecords(run, options.config, options.threads);
  run.budget.emplace(run.session.party(), run.job);
  Announce(run, plan);
  LogRepeatedRows(run, records.own);
  std::unique_ptr<net::MeshTransport> mesh;
  try {
    mesh = run.session.Connect(std::move(config));
    TrainConnected(run, *mesh, records, options.threads);
    return kDone;
  } catch (const std::exception& error) {
    const int code = run.session.Fail(error, mesh.get(), Explain(error, run, mesh != nullptr));
    SettleStopped(run);
    return code;
  }
}

}  // namespace trefoil::apps
