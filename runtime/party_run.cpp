#include "runtime/party_run.h"

#include <spdlog/fmt/fmt.h>

#include <iostream>

#include "base/blocking_call.h"
#include "base/error.h"
#include "base/error_report.h"
#include "base/hex.h"
#include "base/sync_to_disk.h"
#include "base/thread_pool.h"
#include "data/dataset/repeated_rows.h"
#include "jobs/dpsgd/evaluation.h"
#include "jobs/dpsgd/held_out_files.h"
#include "jobs/dpsgd/training_settings.h"
#include "jobs/files/model_file.h"
#include "jobs/files/share_file.h"
#include "jobs/statement/bound_text.h"
#include "jobs/statement/vertical_statement.h"
#include "protocols/arithmetic/agreement.h"
#include "runtime/ledger/run_budget.h"
#include "runtime/machine_check.h"
#include "runtime/mesh_setup.h"
#include "runtime/observe/progress.h"
#include "runtime/party_session.h"
#include "runtime/resume/lost_steps.h"
#include "runtime/resume/run_state.h"
#include "runtime/run_directory.h"
#include "runtime/stop_signals.h"

namespace trefoil::runtime {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

/// All that one run holds on to.
struct Run {
  PartySession session;
  jobs::DpsgdSettings job;
  ml::TrainingSettings settings;
  std::optional<SecretKey> storage_key{};  ///< where the model stays in shares
  std::optional<RunBudget> budget{};       ///< once the data has been read
  std::optional<RunState> state{};         ///< then, too, where the job has checkpoints
  ml::StepReport kept{};                   ///< of the last step that an earlier session finished and kept
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
  jobs::LoadOptions options{.threads = threads, .feature_model = run.session.party().feature_model};
  Records records{.own = {},
                  .held_out = jobs::LoadHeldOut(run.job, run.session.party(), party_file, options)};
  options.most_in_memory = jobs::kMostInMemory;
  records.own = jobs::LoadOwnRecords(run.job, run.session.party().id, run.session.party().data, options);
  return records;
}

/// How many records repeat an earlier one is the owner's affair: in its own log, and nowhere else.
void LogRepeatedRows(Run& run, const ml::OwnRecords& own) {
  if (run.job.data.vertical) return;
  const auto read = [&own](std::size_t row, std::span<float> out) {
    Eigen::Map<Eigen::RowVectorXf>(out.data(), static_cast<Eigen::Index>(out.size())) =
        own.Row(static_cast<std::int64_t>(row));
  };
  const auto repeated = data::CountRepeatedRows(read, static_cast<std::size_t>(own.features()), own.y);
  if (repeated == 0) return;
  run.session.Log(fmt::format("{} of this party's {} records repeat an earlier one; if several are of one "
                              "person, epsilon is for one of them, but for privacy.unit \"group\"",
                              repeated, own.y.size()),
                  jobs::LogLevel::kWarning);
}

/// Makes the run directory, and says there and on stdout what will be done.
void Announce(Run& run, const ml::PrivacyPlan& plan, bool resumed) {
  run.session.Open({.name = run.job.name, .hash = jobs::DpsgdHash(run.job), .toml = jobs::DpsgdToml(run.job)},
                   resumed);
  const auto first = jobs::FirstOf(run.job);
  run.session.display().SayFirst(first);
  run.session.Say(fmt::format("job {}: {} steps, sigma {}, epsilon {}, delta {}", run.job.name,
                              run.settings.steps, jobs::MultiplierText(plan.sigma),
                              jobs::EpsilonsText(plan.epsilon_outsider, plan.epsilon_insider, first),
                              jobs::DeltaText(plan.delta)));
  for (const auto& warning : jobs::PrivacyWarnings(run.job)) run.session.Warn(warning);
}

/// What earlier sessions took for the steps that were kept is counted, too.
void ReportStep(Run& run, ProgressFile& progress, ml::StepReport report, const net::MeshTransport& mesh) {
  report.seconds += run.kept.seconds;
  report.rounds += run.kept.rounds;
  report.bytes_sent += run.kept.bytes_sent;
  // The step that a session goes on from has its line, unless a kill came between checkpoint and line.
  const bool known = report.step == run.kept.step;
  run.last = report;
  run.session.metrics().SetStep(report, mesh.counters().bytes_sent_to);
  if (!known) progress.Append(report);
  run.session.display().Show(report);
  const bool marked = report.step == report.steps || report.step % 50 == 0;
  run.session.Log(ProgressLine(report, jobs::FirstOf(run.job)),
                  marked ? jobs::LogLevel::kInfo : jobs::LogLevel::kDebug);
  if (StopSignal() != 0)
    throw StoppedError(StopSignal(),
                       fmt::format("stopped by signal {} after step {}", StopSignal(), report.step));
}

/// The record as it is kept: with the job and the session that it is of, and what that promises.
dp::TrainingRecord Named(const Run& run, dp::TrainingRecord record, const net::MeshTransport& mesh) {
  record.job_hash = jobs::DpsgdHash(run.job);
  record.run_id = run.state ? run.state->run_id() : ToHex(mesh.session());
  record.promise = jobs::PromiseOf(run.job);
  return record;
}

void ReserveBudget(Run& run, const dp::TrainingRecord& plan, const dp::TrainingRecord& before,
                   const net::MeshTransport& mesh) {
  for (const auto& line : run.budget->Reserve(Named(run, plan, mesh), Named(run, before, mesh)))
    run.session.Say(line);
}

void KeepRecord(Run& run, const dp::TrainingRecord& record, const net::MeshTransport& mesh) {
  const auto named = Named(run, record, mesh);
  run.budget->Settle(named);
  WriteRecord(run.session.folder() / "record.json", named);
}

/// What the summary says of the evaluation, if there was one.
std::optional<EvaluationSummary> SummaryOf(const ml::TrainingResult& result, const jobs::DpsgdSettings& job) {
  if (!result.evaluation) return {};
  const auto epsilons = dp::TestSetEpsilons(result.record, job.privacy.delta);
  return EvaluationSummary{.records = result.evaluation->records,
                           .correct = result.evaluation->correct,
                           .sigma = job.evaluation->sigma,
                           .epsilon_outsider = epsilons.outsider,
                           .epsilon_insider = epsilons.insider,
                           .rounds = result.evaluation->rounds,
                           .bytes_sent = result.evaluation->bytes_sent};
}

/// Writes what this party gets of the model, and says what it is.
std::string KeepModel(Run& run, const ml::TrainingResult& result, const net::MeshTransport& mesh) {
  if (result.model) {
    jobs::SaveModel(run.session.folder() / "model.npz", *result.model, run.job);
    run.session.audit().ReleasedFile("model.npz", run.session.folder() / "model.npz");
    return "model.npz";
  }
  if (!result.share) return "no model released to this party";
  const auto record = Named(run, result.record, mesh);
  fs::remove(run.session.folder() / "model.share");  // of an earlier session, whose peers did not get theirs
  jobs::SaveShare(run.session.folder() / "model.share",
                  {.party = run.session.party().id,
                   .job = run.job,
                   .record = record,
                   .session = run.state ? run.state->releasing_session() : record.run_id,
                   .weights = *result.share},
                  *run.storage_key);
  return "model.share of run " + record.run_id;
}

/// Its lines were not made to last, one by one.
void KeepProgress(const fs::path& file) {
  const BlockingCall call("writing", file);
  SyncToDisk(file);
}

/// All is on disk when it returns, so that checkpoints may go.
void WriteResults(Run& run, const ml::TrainingResult& result, const net::MeshTransport& mesh,
                  double seconds) {
  const auto epsilons = dp::Epsilons(result.record, run.job.privacy.delta, run.settings.accountant);
  const auto evaluation = SummaryOf(result, run.job);
  if (evaluation && evaluation->correct)
    run.session.audit().ReleasedValue("evaluation.correct", *evaluation->correct);
  const auto model = KeepModel(run, result, mesh);
  KeepProgress(run.session.folder() / "progress.csv");
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
                .warnings = jobs::PrivacyWarnings(run.job)});
  run.session.display().Finish();
  if (evaluation) run.session.Say(EvaluationLine(*evaluation));
  run.session.Say(fmt::format("done: epsilon {}, delta {}, {} in {}",
                              jobs::EpsilonsText(epsilons.outsider, epsilons.insider, jobs::FirstOf(run.job)),
                              jobs::DeltaText(run.job.privacy.delta), model, run.session.folder().string()));
}

/// What a resumed run says of its past.
std::string PastOf(const AgreedRun& agreed, int steps) {
  const std::int64_t lost = LostSteps(agreed);
  const int first = agreed.from ? agreed.from->step : 0;
  return fmt::format(
      "resuming run {} at step {} of {}, in session {}: {} steps were begun before, {} of them lost and "
      "charged",
      agreed.run_id, first, steps, agreed.earlier.size() + 1, first + lost, lost);
}

/// Agrees with the peers on what the session begins with.
ml::Resumption BeginSession(Run& run, mpc::Context& context, const net::MeshTransport& mesh,
                            const RunOptions& options) {
  if (!run.state) return {};
  auto claim = run.state->claim();
  claim.again = options.again;
  const auto agreed = AgreeOnRun(context, claim, run.settings.steps);
  RequireFewLosses(context, run.job, agreed);
  if (!agreed.earlier.empty()) {
    run.session.Say(PastOf(agreed, run.settings.steps));
  } else if (options.resume) {
    run.session.Say("nothing to resume: the run begins");
  }
  return run.state->Begin(agreed, ToHex(mesh.session()), [&](const ml::Checkpoint& checkpoint) {
    RequireOneCheckpoint(context, checkpoint, run.job, run.session.folder());
  });
}

ml::TrainingHooks HooksOf(Run& run, ProgressFile& progress, const net::MeshTransport& mesh) {
  ml::TrainingHooks hooks{
      .on_step = [&](const ml::StepReport& report) { ReportStep(run, progress, report, mesh); },
      .on_record = [&](const dp::TrainingRecord& record) { KeepRecord(run, record, mesh); },
      .on_plan = [&](const dp::TrainingRecord& plan,
                     const dp::TrainingRecord& before) { ReserveBudget(run, plan, before, mesh); },
      .before_steps =
          [&](const dp::TrainingRecord& record, int steps) {
            run.budget->Announce(Named(run, record, mesh));
            if (run.state) run.state->Announce(steps);
            run.session.Log(fmt::format("announced steps up to {}", steps), jobs::LogLevel::kDebug);
          }};
  if (!run.state) return hooks;
  hooks.before_step = [&](int step) { run.state->BeginStep(step); };
  hooks.before_release = [&] { run.state->BeginRelease(); };
  hooks.before_evaluation = [&] { run.state->BeginEvaluation(); };
  hooks.on_checkpoint = [&](const ml::Checkpoint& checkpoint) {
    run.state->Keep(checkpoint);
    run.session.Log(fmt::format("kept a checkpoint of step {}", checkpoint.state.step),
                    jobs::LogLevel::kDebug);
  };
  hooks.checkpoint_every = run.job.training.checkpoint_every;
  return hooks;
}

/// Checkpoints are kept until all three have their results: who dies before may need the others again.
void EndTogether(Run& run, mpc::Context& context) {
  if (!run.state) return;
  try {
    protocols::Barrier(context);
    run.state->Discard();
  } catch (const NetworkError& error) {
    run.session.Say(fmt::format(
        "note: {}: it may lack its results; this party has its own, and keeps its last checkpoint: "
        "run --resume at all three if it does",
        error.what()));
  }
}

void TrainConnected(Run& run, net::MeshTransport& mesh, const Records& records, const RunOptions& options) {
  const auto start = Clock::now();
  ThreadPool pool(ThreadsFor(options.threads));
  mpc::Context context(mesh, AgreeOnSessionKeys(mesh), pool);
  const auto resumption = BeginSession(run, context, mesh, options);
  const int first = resumption.from ? static_cast<int>(resumption.from->state.step) : 0;
  ProgressFile progress(run.session.folder() / "progress.csv", first);
  run.kept = progress.kept();
  const auto result = ml::Train(context, run.settings, records.own, HooksOf(run, progress, mesh),
                                records.held_out, resumption);
  WriteResults(run, result, mesh,
               run.kept.seconds + std::chrono::duration<double>(Clock::now() - start).count());
  EndTogether(run, context);
}

/// The error as the operator reads it: "lost party 1 at step 17 of 439: closed the connection".
std::string Explain(const std::exception& error, const Run& run, bool connected) {
  const auto when =
      fmt::format("at step {} of {}", std::min(run.last.step + 1, run.settings.steps), run.settings.steps);
  if (const auto* lost = dynamic_cast<const NetworkError*>(&error))
    return ExplainLoss(*lost, when, connected);
  if (dynamic_cast<const ProtocolError*>(&error) != nullptr)
    return fmt::format("{}: {}", connected ? when : "before the start", error.what());
  return CauseOf(error);
}

/// Refuses what cannot be resumed, or written to, before anything is opened.
void CheckFolder(const RunOptions& options, const jobs::DpsgdSettings& job, const fs::path& folder) {
  if (!options.resume) return CheckRunDirectory(folder);
  if (options.out.empty())
    throw ConfigError("--out: missing, expected with --resume the run directory that is to be resumed");
  if (job.training.checkpoint_every == 0) {
    throw ConfigError(
        "--resume: found a job without checkpoints, expected one with training.checkpoint_every above 0");
  }
  if (fs::exists(folder) && !fs::is_directory(folder))
    throw ConfigError(folder.string() + ": found a file, expected a run directory");
}

/// Reads what is to be resumed, if anything.
void OpenState(Run& run) {
  if (run.job.training.checkpoint_every == 0) return;
  const auto& party = run.session.party();
  run.state.emplace(run.session.folder(),
                    RunOwner{.party = party.id, .job = run.job, .data_hash = DataHash(party.data)},
                    jobs::StorageKey(party, kCheckpoint));
}

/// All that comes before the peers are met.
Records Prepare(Run& run, const ml::PrivacyPlan& plan, const RunOptions& options) {
  if (run.settings.release_to.empty())
    run.storage_key = jobs::StorageKey(run.session.party(), jobs::kModelShare);
  auto records = LoadAllRecords(run, options.config, options.threads);
  run.budget.emplace(run.session.party(), BudgetedJobOf(run.job),
                     BudgetedEvaluationOf(run.job, run.session.party().id));
  OpenState(run);
  Announce(run, plan, options.resume);
  for (const auto& damaged : run.state ? run.state->damaged() : std::vector<std::string>())
    run.session.Warn(damaged + "; it is left aside, since a newer checkpoint is whole");
  RequireDisk(run.session.folder(), ml::MakeStepPlan(run.settings), run.job.training.checkpoint_every > 0);
  LogRepeatedRows(run, records.own);
  return records;
}

/// Whether the others have finished, as far as can be told: this party has its results, and nobody comes. It
/// died with them, before it had removed its checkpoints.
bool WaitsInVain(const Run& run, const std::exception& error) {
  const bool nobody = dynamic_cast<const NetworkError*>(&error) != nullptr && !run.session.met_a_peer();
  return nobody && HoldsResults(run.session.folder());
}

int EndWithOwnResults(Run& run, const std::exception& error) {
  run.session.Say(
      fmt::format("note: no peer came ({}); this party has its results, and keeps its last "
                  "checkpoint: run --resume at all three if another one lacks its own",
                  error.what()));
  run.session.Done();
  return kDone;
}

/// How an operator may go on after a failure.
void SayHowToGoOn(Run& run) {
  if (!run.state || run.state->claim().run_id.empty()) return;
  run.session.Say(fmt::format(
      "the run can go on: start all three parties with --resume --out and their run directories, here {}",
      run.session.folder().string()));
}

}  // namespace

int RunParty(const RunOptions& options) {
  const auto job = jobs::ReadDpsgdSettings(options.job);
  Run run{.session = PartySession(jobs::ReadParty(options.config),
                                  options.out.empty() ? DefaultRunDirectory(job.name) : fs::path(options.out),
                                  options.config),
          .job = job,
          .settings = jobs::SettingsOf(job)};
  const auto plan = ml::MakePlan(run.settings);
  CheckFolder(options, job, run.session.folder());
  if (options.resume && HoldsFinishedRun(run.session.folder())) {
    RemoveCheckpoints(run.session.folder());  // which another start may have begun to do
    std::cout << run.session.folder().string() << ": the run has finished, nothing to resume\n";
    return kDone;
  }
  auto config = MeshConfigOf(run.session.party(), jobs::DpsgdJson(run.job));
  Records records;
  try {
    records = Prepare(run, plan, options);
  } catch (const std::exception& error) {
    return run.session.FailBeforeStart(error, config);
  }
  try {
    auto& mesh = run.session.Connect(std::move(config));
    run.session.watch().Run(StopWhen::kBetweenSteps, [&] { TrainConnected(run, mesh, records, options); });
    run.session.Done();
    return kDone;
  } catch (const std::exception& error) {
    if (WaitsInVain(run, error)) return EndWithOwnResults(run, error);
    const int code = run.session.Fail(error, Explain(error, run, run.session.connected()));
    run.budget->StopOrLog([&](const std::string& line) { run.session.Log(line); });
    if (run.session.connected()) SayHowToGoOn(run);
    return code;
  }
}

}  // namespace trefoil::runtime
