#include "apps/party_run.h"

#include <spdlog/fmt/fmt.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/spdlog.h>

#include <csignal>
#include <iostream>
#include <thread>

#include "apps/error_report.h"
#include "apps/evaluation.h"
#include "apps/files.h"
#include "apps/held_out_files.h"
#include "apps/hex.h"
#include "apps/mesh_setup.h"
#include "apps/model_file.h"
#include "apps/progress.h"
#include "apps/run_directory.h"
#include "apps/training_settings.h"
#include "base/error.h"
#include "base/thread_pool.h"

namespace trefoil::apps {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

/// The operator told this process to stop.
class StoppedError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

volatile std::sig_atomic_t stop_signal = 0;

/// The first signal ends the training between two steps; a second one ends the process at once.
void StopBetweenSteps() {
  struct sigaction action {};
  action.sa_handler = [](int signal) { stop_signal = signal; };
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  for (const int signal : {SIGINT, SIGTERM}) sigaction(signal, &action, nullptr);
}

std::shared_ptr<spdlog::logger> MakeLog(const fs::path& file) {
  auto sink = std::make_shared<spdlog::sinks::basic_file_sink_mt>(file.string());
  auto log = std::make_shared<spdlog::logger>("party", std::move(sink));
  log->set_pattern("%Y-%m-%dT%H:%M:%S.%eZ %l %v", spdlog::pattern_time_type::utc);
  log->flush_on(spdlog::level::info);
  return log;
}

/// All that one run holds on to.
struct Run {
  PartyFile party;
  Job job;
  ml::TrainingSettings settings;
  fs::path folder;
  std::shared_ptr<spdlog::logger> log{};
  ProgressDisplay display{std::cout, StdoutIsTerminal()};
  ml::StepReport last{};  ///< of the step finished last
};

void Say(Run& run, const std::string& line) {
  run.log->info(line);
  run.display.Say(line);
}

/// All that this party brings to the training.
struct Records {
  ml::OwnRecords own;
  ml::HeldOutRecords held_out;
};

Records LoadAllRecords(const Run& run, const std::string& party_file, std::size_t threads) {
  if (run.party.data.x.empty() && run.party.data.file.empty()) {
    throw ConfigError(party_file + ": missing [data], expected x and y, or file");
  }
  LoadOptions options{.threads = threads, .feature_model = run.party.feature_model};
  Records records{.own = {}, .held_out = LoadHeldOut(run.job, run.party, party_file, options)};
  records.own = LoadOwnRecords(run.job, run.party.id, run.party.data, options);
  return records;
}

/// Makes the run directory, and says there and on stdout what will be done.
void Announce(Run& run, const ml::PrivacyPlan& plan) {
  MakeRunDirectory(run.folder);
  run.log = MakeLog(run.folder / "party.log");
  WriteTextFile(run.folder / "job.toml", JobToml(run.job));
  Say(run, fmt::format("job {}: {} steps, sigma {:.4f}, epsilon {} outsider {} insider, delta {:g}",
                       run.job.name, run.settings.steps, plan.sigma, EpsilonText(plan.epsilon_outsider),
                       EpsilonText(plan.epsilon_insider), plan.delta));
  run.log->info("job hash {}", JobHash(run.job));
  for (const auto& notice : run.party.notices) Say(run, notice);
  for (const auto& notice : JobNotices(run.job)) Say(run, notice);
  for (const auto& warning : PrivacyWarnings(run.job)) Say(run, "warning: " + warning);
}

std::unique_ptr<net::MeshTransport> Connect(Run& run, net::MeshConfig config) {
  config.log = [log = run.log](const std::string& line) { log->info(line); };
  Say(run, fmt::format("party {}: waiting for parties {} and {}, for at most {}", run.party.id,
                       run.party.peers[0].id, run.party.peers[1].id,
                       SecondsText(static_cast<double>(run.party.start_timeout.count()) / 1000)));
  auto mesh = net::ConnectMesh(config);
  Say(run, "connected: TLS 1.3 to both, same job");
  return mesh;
}

void ReportStep(Run& run, ProgressFile& progress, const ml::StepReport& report) {
  run.last = report;
  if (report.step > 0) progress.Append(report);
  run.display.Show(report);
  if (report.step == report.steps || report.step % 50 == 0) run.log->info(ProgressLine(report));
  if (stop_signal != 0)
    throw StoppedError(fmt::format("stopped by signal {} after step {}", int{stop_signal}, report.step));
}

void KeepRecord(const Run& run, dp::TrainingRecord record, const net::MeshTransport& mesh) {
  record.job_hash = JobHash(run.job);
  record.run_id = ToHex(mesh.session());
  WriteRecord(run.folder / "record.json", record);
}

/// What the summary says of the evaluation, if there was one.
std::optional<EvaluationSummary> SummaryOf(const ml::TrainingResult& result, const Job& job) {
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

void WriteResults(Run& run, const ml::TrainingResult& result, double seconds) {
  const auto epsilons = dp::Epsilons(result.record, run.job.privacy.delta);
  const auto evaluation = SummaryOf(result, run.job);
  if (result.model) SaveModel(run.folder / "model.npz", *result.model, run.job);
  WriteSummary(run.folder / "summary.json", {.job = run.job.name,
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
  run.display.Finish();
  if (evaluation) Say(run, EvaluationLine(*evaluation));
  Say(run, fmt::format("done: epsilon {} outsider {} insider, delta {:g}, {} in {}",
                       EpsilonText(epsilons.outsider), EpsilonText(epsilons.insider), run.job.privacy.delta,
                       result.model ? "model.npz" : "no model released to this party", run.folder.string()));
}

void TrainConnected(Run& run, net::MeshTransport& mesh, const Records& records, std::size_t threads) {
  const auto start = Clock::now();
  ThreadPool pool(threads != 0 ? threads : std::max(1U, std::thread::hardware_concurrency()));
  mpc::Context context(mesh, mpc::AgreeOnKeys(mesh), pool);
  ProgressFile progress(run.folder / "progress.csv");
  StopBetweenSteps();
  const auto result =
      ml::Train(context, run.settings, records.own,
                {.on_step = [&](const ml::StepReport& report) { ReportStep(run, progress, report); },
                 .on_record = [&](const dp::TrainingRecord& record) { KeepRecord(run, record, mesh); }},
                records.held_out);
  WriteResults(run, result, std::chrono::duration<double>(Clock::now() - start).count());
}

net::AbortReason ReasonFor(const std::exception& error) {
  using net::AbortCode;
  if (const auto* lost = dynamic_cast<const NetworkError*>(&error)) {
    return {.code = AbortCode::kPeerLost, .about = lost->peer()};
  }
  if (dynamic_cast<const ConfigError*>(&error) != nullptr) return {.code = AbortCode::kConfiguration};
  if (dynamic_cast<const DataError*>(&error) != nullptr) return {.code = AbortCode::kData};
  if (dynamic_cast<const BudgetError*>(&error) != nullptr) return {.code = AbortCode::kBudget};
  if (dynamic_cast<const StoppedError*>(&error) != nullptr) return {.code = AbortCode::kStopped};
  return {};
}

/// The error as the operator reads it. A failed link says what it meant for the training:
/// "lost party 1 at step 17 of 439: closed the connection".
std::string Explain(const std::exception& error, const Run& run, bool connected) {
  const auto step = std::min(run.last.step + 1, run.settings.steps);
  if (const auto* lost = dynamic_cast<const NetworkError*>(&error)) {
    const auto prefix = fmt::format("party {}: ", lost->peer());
    std::string cause = lost->what();
    if (!connected) return "before the start: " + cause;
    if (cause.starts_with(prefix)) cause.erase(0, prefix.size());
    return fmt::format("lost party {} at step {} of {}: {}", lost->peer(), step, run.settings.steps, cause);
  }
  if (dynamic_cast<const ProtocolError*>(&error) != nullptr) {
    return fmt::format("at step {} of {}: {}", step, run.settings.steps, error.what());
  }
  return error.what();
}

}  // namespace

int RunParty(const RunOptions& options) {
  Run run;
  run.party = ReadParty(options.config);
  run.job = ReadJob(options.job);
  run.settings = SettingsOf(run.job);
  run.folder = options.out;
  const auto plan = ml::MakePlan(run.settings);
  if (run.folder.empty()) run.folder = DefaultRunDirectory(run.job.name);
  CheckRunDirectory(run.folder);
  auto config = MeshConfigOf(run.party, JobJson(run.job));
  const auto records = LoadAllRecords(run, options.config, options.threads);
  Announce(run, plan);
  std::unique_ptr<net::MeshTransport> mesh;
  try {
    mesh = Connect(run, std::move(config));
    TrainConnected(run, *mesh, records, options.threads);
    return kDone;
  } catch (const std::exception& error) {
    if (mesh) mesh->Abort(ReasonFor(error));
    const auto cause = Explain(error, run, mesh != nullptr);
    run.log->error(cause);
    run.display.Finish();
    ReportError(cause);
    return ExitCodeOf(error);
  }
}

}  // namespace trefoil::apps
