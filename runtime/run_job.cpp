#include "runtime/run_job.h"

#include <spdlog/fmt/fmt.h>

#include <functional>
#include <iostream>

#include "base/error.h"
#include "base/error_report.h"
#include "base/threads/thread_pool.h"
#include "data/dataset/data_hash.h"
#include "jobs/advice.h"
#include "jobs/config/input_files.h"
#include "jobs/files/share_file.h"
#include "jobs/job.h"
#include "jobs/statement/bound_text.h"
#include "protocols/arithmetic/agreement.h"
#include "runtime/abort_reason.h"
#include "runtime/job_output.h"
#include "runtime/job_results.h"
#include "runtime/machine_check.h"
#include "runtime/mesh_setup.h"
#include "runtime/ranks/lane_report.h"
#include "runtime/ranks/same_build.h"
#include "runtime/ranks/serve_job.h"
#include "runtime/run_directory.h"

namespace trefoil::runtime {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// All that one run holds on to.
struct Run {
  const RunOptions& options;
  std::shared_ptr<jobs::Job> job;
  PartySession session;
  jobs::SharedRecords* store = nullptr;  ///< where its records are deposits
  RankGroup* group = nullptr;            ///< of a party of several machines, of which this is the first
  std::optional<RunBudget> budget{};     ///< once the data has been read
  std::optional<RunState> state{};       ///< likewise, where the job has checkpoints
  std::optional<JobOutput> output{};     ///< once the peers are met
  std::function<jobs::OwnerLines()> owner_lines{};  ///< JobResult::owner_lines

  [[nodiscard]] int steps() const { return job->Steps().count; }
  [[nodiscard]] bool charges() const { return job->Covered().empty(); }
};

/// Refuses what cannot be resumed before anything is opened.
void CheckResume(const RunOptions& options, const jobs::Job& job) {
  if (!options.resume) return;
  if (options.out.empty())
    throw ConfigError("--out: missing, expected with --resume the run directory that is to be resumed");
  if (const auto why = job.NoResume(); !why.empty()) throw ConfigError("--resume: " + why);
}

/// Where the run is watched, if the command line says so.
void ListenWhereTold(const RunOptions& options, jobs::PartyFile& party) {
  if (options.metrics.empty()) return;
  constexpr const char* kExpected = "127.0.0.1:PORT or [::1]:PORT: what it tells is for this machine alone";
  try {
    party.metrics = {.listen = jobs::ParseAddress(options.metrics)};
  } catch (const ConfigError& error) {
    throw ConfigError(fmt::format("--metrics: {}", error.what()));
  }
  if (!net::IsLoopback(party.metrics->listen.host))
    throw ConfigError(fmt::format("--metrics: found \"{}\", expected {}", options.metrics, kExpected));
}

void CheckRunFolder(const RunOptions& options, const fs::path& folder) {
  if (!options.resume) return CheckRunDirectory(folder);
  if (fs::exists(folder) && !fs::is_directory(folder))
    throw ConfigError(folder.string() + ": found a file, expected a run directory");
}

/// Reads what is to be resumed, if anything.
void OpenState(Run& run) {
  const bool checkpoints = run.job->Steps().checkpoint_every > 0;
  if (!checkpoints && (run.job->Calls() == 0 || !run.job->NoResume().empty())) return;
  const auto& party = run.session.party();
  run.state.emplace(run.session.folder(),
                    RunOwner{.party = party.id,
                             .job = run.job,
                             .data_hash = data::DataHash(party.data),
                             .types = run.options.types},
                    checkpoints ? jobs::StorageKey(party, kCheckpoint) : SecretKey());
}

/// Makes the run directory, and says there and on stdout what will be done.
void Announce(Run& run, const dp::EpsilonPair& planned) {
  const auto& job = *run.job;
  auto& session = run.session;
  session.Open({.name = job.name(), .hash = jobs::HashOf(job), .toml = jobs::TomlOf(job)},
               run.options.resume);
  session.display().SayFirst(jobs::FirstOf(job));
  session.Say(fmt::format("job {}: {}", job.name(), job.Title()));
  if (const auto& page = session.party().metrics)
    session.Say(fmt::format("watch this run at http://{}/", jobs::ToText(page->listen)));
  if (run.charges())
    session.Say(fmt::format("epsilon {}, delta {}, at most",
                            jobs::EpsilonsText(planned.outsider, planned.insider, jobs::FirstOf(job)),
                            jobs::DeltaText(job.delta())));
  for (const auto& warning : job.Warnings()) session.Warn(warning);
  for (const auto& note : jobs::AdviceOn(job, planned)) session.Say("note: " + note);
  for (const auto& damaged : run.state ? run.state->damaged() : std::vector<std::string>())
    session.Warn(damaged + "; it is left aside, since a newer checkpoint is whole");
}

void RequireRoom(const Run& run) {
  const auto self = static_cast<std::size_t>(run.session.party().id);
  const auto* before = run.steps() > 0 ? "the first step, which is charged"
                       : run.charges() ? "the release, which is charged"
                                       : "the release";
  RequireDisk(run.session.folder(), run.job->Plan({}).disk.at(self), before);
}

/// Tells who watches the run what it is of.
void ShowJob(Run& run, const dp::EpsilonPair& planned) {
  const auto& job = *run.job;
  run.session.metrics().SetJob({.name = job.name(),
                                .type = job.type(),
                                .title = job.Title(),
                                .hash = jobs::HashOf(job),
                                .covered = job.Covered(),
                                .planned = planned,
                                .delta = run.charges() ? job.delta() : 0,
                                .first = jobs::FirstOf(job)});
}

/// What queries give whose records are charged: of a database that changes while it is read, others would be.
std::string QueriedData(const jobs::PartyFile& party, const jobs::Job& job) {
  std::string hashes;
  if (!party.data.query.empty()) hashes += data::DataHash(party.data);
  const bool tests = party.evaluation_ledger && BudgetedEvaluationOf(job, party.id);
  if (tests && !party.evaluation.query.empty()) hashes += data::DataHash(party.evaluation);
  return hashes;
}

/// All that comes before the peers are met.
void Prepare(Run& run, const dp::EpsilonPair& planned) {
  const auto& party = run.session.party();
  // A key that cannot seal the model's share is found now, not after the training.
  if (run.job->release_to().empty()) (void)jobs::StorageKey(party, jobs::kModelShare);
  const auto queried = QueriedData(party, *run.job);
  const auto loaded = jobs::LoadInputs(*run.job, party, run.options.config, {.threads = run.options.threads});
  run.budget.emplace(party, *run.job);
  if (run.store != nullptr)
    run.budget->PrepareOwners(
        run.store->Populations(),
        {.job_hash = jobs::HashOf(*run.job), .run_id = {}, .events = run.job->Events()});
  if (QueriedData(party, *run.job) != queried)
    throw DataError(
        "found other records at the end of reading a database than at its beginning, expected the same: "
        "begin again when nobody writes to it, or query what stays");
  OpenState(run);
  Announce(run, planned);
  RequireRoom(run);
  if (jobs::IsOnDeposits(*run.job) && !party.owner_ledgers)
    run.session.Warn(
        "data.source \"store\": this party has no [owner_ledgers], so that nothing here adds up what jobs on "
        "the same "
        "deposits cost their owners");
  run.session.Log(
      "read what this party brings, as the job declares it");  // how much there is says `check`, to the owner alone
  run.session.WarnOwner(loaded.warnings);
}

/// Checkpoints are kept until all three have their results: a party that dies before then needs the others again. Behind
/// a job's last call there is nothing that they could do for it.
void EndTogether(Run& run, mpc::Context& context) {
  if (!run.state) return;
  if (run.job->Calls() > 0) return run.state->Discard();
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

/// What the session has taken at all ranks, once they have sent their last message.
SessionCost CostOf(Run& run, const net::MeshTransport& mesh, Clock::time_point start,
                   double processor_seconds) {
  SessionCost cost{.counters = mesh.counters(), .seconds = SecondsSince(start)};
  const double seconds = ProcessorSeconds(run.group) - processor_seconds;
  if (run.group == nullptr) {
    run.session.Log(fmt::format("{:.1f} s of processor time", seconds), jobs::LogLevel::kDebug);
    return cost;
  }
  const auto lanes = GatherReports(run.group->ranks(), {.counters = mesh.counters(),
                                                        .processor_seconds = seconds,
                                                        .waited_seconds = run.group->waited().seconds});
  cost.ranks = static_cast<int>(lanes.size());
  for (std::size_t rank = 0; rank < lanes.size(); ++rank) {
    const auto& lane = lanes.at(rank);
    const auto bytes = lane.counters.bytes_sent + lane.counters.bytes_offline;
    if (rank > 0) cost.bytes_of_other_ranks += bytes;
    run.session.Log(
        fmt::format("rank {}: {} bytes sent, {:.1f} s of processor time, {:.1f} s waited for other ranks",
                    rank, bytes, lane.processor_seconds, lane.waited_seconds));
  }
  return cost;
}

void RunConnected(Run& run, net::MeshTransport& mesh) {
  const auto start = Clock::now();
  const double processor_seconds = ProcessorSeconds(run.group);
  ThreadPool pool(ThreadsFor(run.options.threads));
  mpc::Context context(mesh, AgreeOnSessionKeys(mesh), pool);
  if (run.group != nullptr) run.group->ranks().Barrier();  // all lanes stand before anything is charged
  run.output.emplace(run.session, *run.job, *run.budget, run.state ? &*run.state : nullptr, mesh,
                     run.options);
  const auto result = run.job->Run(context, *run.output);
  WriteResults(run.session, *run.job, result, *run.output, CostOf(run, mesh, start, processor_seconds));
  EndTogether(run, context);
  run.owner_lines = result.owner_lines;
}

/// When all is done and the links have ended. What goes wrong here changes nothing of a run that has its results.
void TellOwnerOfResults(Run& run) {
  if (!run.owner_lines) return;
  run.output.reset();  // it has the links
  run.session.Disconnect();
  try {
    const auto lines = run.owner_lines();
    run.session.WarnOwner(lines.warnings);
    run.session.NoteForOwner(lines.notes);
  } catch (const std::exception&) {
    ReportError("note: the released model could not be compared with this party's own records");
  }
}

/// The error as the operator reads it: "lost party 1 at step 17 of 439: closed the connection".
std::string Explain(const std::exception& error, const Run& run) {
  const int steps = run.steps();
  const int done = run.output ? run.output->last().step : 0;
  const auto when =
      steps > 0 ? fmt::format("at step {} of {}", std::min(done + 1, steps), steps) : "while computing";
  const bool connected = run.session.connected();
  const auto* lost = dynamic_cast<const NetworkError*>(&error);
  if (lost != nullptr && dynamic_cast<const RanksEnded*>(&error) == nullptr)
    return ExplainLoss(*lost, when, connected, run.group != nullptr ? std::optional(0) : std::nullopt);
  if (dynamic_cast<const ProtocolError*>(&error) != nullptr)
    return fmt::format("{}: {}", connected ? when : "before the start", error.what());
  return CauseOf(error);
}

/// Whether the others have finished, as far as can be told: this party has its results, and no peer comes. So it
/// must have died after writing them and before removing its checkpoints.
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

/// `error`, or what another rank has failed with before, by which this one was ended.
RankFailure FailureOf(Run& run, const std::exception& error) {
  RankFailure own{.code = ExitCodeOf(error), .reason = ReasonFor(error), .cause = Explain(error, run)};
  if (run.group == nullptr) return own;
  const bool ended = dynamic_cast<const RanksEnded*>(&error) != nullptr;
  if (auto first = run.group->Failure(ended ? kCauseComes : std::chrono::milliseconds(0)))
    return *std::move(first);
  own.cause = fmt::format("party {}, rank 0: {}", run.session.party().id, own.cause);
  return own;
}

RankFailure EndInFailure(Run& run, const std::exception& error) {
  if (WaitsInVain(run, error)) return {.code = EndWithOwnResults(run, error)};
  auto failure = FailureOf(run, error);
  run.session.Fail(failure.code, failure.reason, failure.cause);
  run.budget->StopOrLog([&](const std::string& line) { run.session.Log(line); });
  if (run.session.connected()) SayHowToGoOn(run);
  return failure;
}

RankFailure EndBeforeStart(Run& run, const std::exception& error, const net::MeshConfig& config) {
  RankFailure failure{.code = ExitCodeOf(error), .reason = ReasonFor(error), .cause = CauseOf(error)};
  if (dynamic_cast<const RanksEnded*>(&error) != nullptr)
    failure = run.group->Failure(kCauseComes).value_or(failure);
  run.session.FailBeforeStart(failure.code, failure.reason, failure.cause, config);
  return failure;
}

/// What ends the run at this rank ends it at all of the party.
int End(Run& run, const RankFailure& failure) {
  if (run.group != nullptr) run.group->End(failure);
  return failure.code;
}

/// The other ranks of the party may read, once all have the same job. Where one of them fails before this one, which may read
/// for long, the peers are told all the same.
void BeginTogether(Run& run, RankGroup& group, const net::MeshConfig& config) {
  group.SetLastNote(
      [&run, &config](const RankFailure& failure) { run.session.TellBeforeStart(failure.reason, config); });
  LetBegin(group.ranks(), true);
  RequireSameJob(group.ranks(), jobs::HashOf(*run.job), run.session.party().id);
}

/// The run of a party, or of its first rank.
int RunFirst(const RunOptions& options, RankGroup* group) {
  const std::shared_ptr<jobs::Job> job = jobs::ReadJob(options.job, {}, options.types);
  if (options.program != nullptr) job->TakeVectorsOf(*options.program);
  CheckResume(options, *job);
  auto party = jobs::ReadParty(options.config, options.types);
  jobs::BringFiles(party, options.inputs);
  if (options.with_ranks) {
    RequireRanks(party.ranks);
  } else if (party.ranks > 1) {
    throw ConfigError(fmt::format("party.ranks: found {}, expected 1, but for trefoil run", party.ranks));
  }
  job->UseRanks(party.ranks);
  if (group != nullptr) job->TakeRanks(group->ranks());
  const auto store = jobs::OpenStoreOf(*job, party, options.config, options.open_store);
  ListenWhereTold(options, party);
  Run run{.options = options,
          .job = job,
          .session = PartySession(
              std::move(party),
              options.out.empty() ? DefaultRunDirectory(job->name()) : fs::path(options.out), options.config),
          .store = store.get(),
          .group = group};
  const auto planned = run.charges() ? job->Epsilons() : dp::EpsilonPair();
  const auto folder = run.session.folder();
  CheckRunFolder(options, folder);
  ShowJob(run, planned);
  if (options.resume && HoldsFinishedRun(folder)) {
    if (group != nullptr) LetBegin(group->ranks(), false);
    RemoveCheckpoints(folder);  // in case the run died while it removed them
    std::cout << folder.string() << ": the run has finished, nothing to resume\n";
    return kDone;
  }
  auto config = MeshConfigOf(run.session.party(), job->Json());
  try {
    if (group != nullptr) BeginTogether(run, *group, config);
    Prepare(run, planned);
    if (group != nullptr) group->ranks().Barrier();  // the others have read what they read
  } catch (const std::exception& error) {
    return End(run, EndBeforeStart(run, error, config));
  }
  try {
    if (group != nullptr) {
      group->SetLastNote([&run](const RankFailure& failure) {
        run.session.NoteFailure(failure.code, failure.reason, failure.cause);
      });
    }
    auto& mesh = run.session.Connect(std::move(config));
    if (group != nullptr) group->SetLinks(&mesh);
    run.session.watch().Run(run.steps() > 0 ? StopWhen::kBetweenSteps : StopWhen::kAtOnce,
                            [&] { RunConnected(run, mesh); });
    run.session.Done();
  } catch (const std::exception& error) {
    return End(run, EndInFailure(run, error));
  }
  if (group != nullptr) {
    group->SetLinks(nullptr);
    group->SetLastNote(nullptr);
  }
  TellOwnerOfResults(run);
  return kDone;
}

}  // namespace

int RunJob(const RunOptions& options) {
  const auto group = options.with_ranks ? StartRanks(LimitsOf(options)) : nullptr;
  if (group == nullptr) return RunFirst(options, nullptr);
  const int rank = group->ranks().rank();
  try {
    RequireSameBuild(group->ranks(), BuildOfProgram());
    const int code = rank == 0 ? RunFirst(options, group.get()) : ServeJob(options, *group);
    group->Finish();
    return code;
  } catch (const std::exception& error) {
    const auto cause = rank == 0 ? CauseOf(error) : fmt::format("rank {}: {}", rank, CauseOf(error));
    RankFailure failure{.rank = rank, .code = ExitCodeOf(error), .reason = ReasonFor(error), .cause = cause};
    const bool ended = dynamic_cast<const RanksEnded*>(&error) != nullptr;
    if (ended) failure = group->Failure(kCauseComes).value_or(failure);
    if (rank == 0) ReportError(failure.cause);
    group->End(failure);
  }
}

}  // namespace trefoil::runtime
