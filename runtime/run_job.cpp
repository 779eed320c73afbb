#include "runtime/run_job.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <chrono>
#include <iostream>

#include "base/error.h"
#include "base/error_report.h"
#include "base/threads/thread_pool.h"
#include "jobs/config/input_files.h"
#include "jobs/job.h"
#include "protocols/arithmetic/agreement.h"
#include "runtime/abort_reason.h"
#include "runtime/job_results.h"
#include "runtime/mesh_setup.h"
#include "runtime/observe/session_log.h"
#include "runtime/phases/fail.h"
#include "runtime/phases/prepare.h"
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

/// Throws where the run that has finished in the session's folder is, as far as that tells, another job's,
/// another party's or one on other data: its results would be taken for those of a run that never was.
void RequireOwnResults(const PartySession& session, const jobs::Job& job, jobs::JobTypes types) {
  const auto& folder = session.folder();
  const auto was = jobs::ReadJob(folder / "job.toml", {}, types)->Json();
  if (const auto own = job.Json(); own != was)
    throw ConfigError(fmt::format("{}, as in {}, whose run has finished: another job wants another --out",
                                  jobs::DescribeDifference(own, was), (folder / "job.toml").string()));
  if (!fs::exists(session.AuditFile())) return;
  const auto summary = folder / "summary.json";
  const auto began = SessionsMetAs(session.AuditFile(), ReadSummary(summary).session);
  if (began.empty()) return;
  const int party = session.party().id;
  const auto own =
      std::find_if(began.begin(), began.end(), [&](const auto& one) { return one.party == party; });
  if (own == began.end())
    throw DataError(fmt::format("{}: found party {}'s results, expected party {}'s: each has its own --out",
                                summary.string(), began.front().party, party));
  if (!own->data.empty() && !fs::exists(folder / kDataSalt)) return;
  std::string data;
  try {
    data = session.SaltedDataHash();
  } catch (const DataError& error) {  // as where the records were removed once the model was there
    std::cout << "note: " << error.what() << ": not compared with the data of the run that has finished\n";
    return;
  }
  if (own->data != data)  // no hash of data in an error
    throw DataError(fmt::format(
        "{}: found the results of a run on other data than the files of [data], expected another --out",
        summary.string()));
}

/// A run that begins, with --resume, too, finds no results of another one, which would be taken for its own.
void CheckRunFolder(const RunOptions& options, const fs::path& folder) {
  if (!options.resume || !(HoldsRun(folder) || HoldsResults(folder))) CheckRunDirectory(folder);
}

/// Tells who watches the run what it is of.
void ShowJob(PartyRun& run, const dp::EpsilonPair& planned) {
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

/// Checkpoints are kept until all three have their results: a party that dies before then needs the others
/// again. Behind a job's last call there is nothing that they could do for it.
void EndTogether(PartyRun& run, mpc::Context& context) {
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
SessionCost CostOf(PartyRun& run, const net::MeshTransport& mesh, Clock::time_point start,
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

void RunConnected(PartyRun& run, net::MeshTransport& mesh) {
  const auto start = Clock::now();
  const double processor_seconds = ProcessorSeconds(run.group);
  ThreadPool pool(ThreadsFor(run.options.threads));
  mpc::Context context(mesh, AgreeOnSessionKeys(mesh), pool);
  if (run.group != nullptr) run.group->ranks().Barrier();  // all lanes stand before anything is charged
  run.output.emplace(run.session, *run.job, *run.budget, run.state ? &*run.state : nullptr, mesh,
                     run.options);
  const auto result = run.job->Run(context, *run.output);
  WriteResults(run.session, *run.job, result, *run.output,
               [&] { return CostOf(run, mesh, start, processor_seconds); });
  EndTogether(run, context);
  run.owner_lines = result.owner_lines;
}

/// What the peers still have to take may be as much as all that came before. A signal ends that at once: this
/// party's own part is done, and nothing could go on.
void FinishLinks(PartyRun& run, net::MeshTransport& mesh) {
  run.output.reset();  // it has the state
  run.state.reset();
  run.session.watch().Run(StopWhen::kAtOnce, [&] { mesh.Finish(); });
}

/// When all is done and the links have ended. What goes wrong here changes nothing of a run that has its
/// results.
void TellOwnerOfResults(PartyRun& run) {
  if (!run.owner_lines) return;
  run.session.Disconnect();
  try {
    const auto lines = run.owner_lines();
    run.session.WarnOwner(lines.warnings);
    run.session.NoteForOwner(lines.notes);
  } catch (const std::exception&) {
    ReportError("note: the results could not be compared with this party's own records");
  }
}

/// What ends the run at this rank ends it at all of the party.
int End(PartyRun& run, const RankFailure& failure) {
  if (run.group != nullptr) run.group->End(failure);
  return failure.code;
}

/// The other ranks of the party may read, once all have the same job. Where one of them fails before this
/// one, which may read for long, the peers are told all the same.
void BeginTogether(PartyRun& run, RankGroup& group, const net::MeshConfig& config) {
  group.SetLastWords({.note = [&run, &config](const RankFailure& failure) {
    run.session.TellBeforeStart(failure.reason, config);
  }});
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
  PartyRun run{
      .options = options,
      .job = job,
      .session = PartySession(std::move(party),
                              options.out.empty() ? DefaultRunDirectory(job->name()) : fs::path(options.out),
                              options.config),
      .store = store.get(),
      .group = group};
  const auto planned = run.charges() ? job->Epsilons() : dp::EpsilonPair();
  const auto folder = run.session.folder();
  CheckRunFolder(options, folder);
  ShowJob(run, planned);
  if (options.resume && HoldsFinishedRun(folder)) {
    RequireOwnResults(run.session, *job, options.types);
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
      group->SetLastWords({.explain = [&run](const std::exception& error) { return FailureOf(run, error); },
                           .note =
                               [&run](const RankFailure& failure) {
                                 run.session.NoteFailure(failure.code, failure.reason, failure.cause);
                               }});
    }
    auto& mesh = run.session.Connect(std::move(config));
    if (group != nullptr) group->SetLinks(&mesh);
    run.session.watch().Run(run.steps() > 0 ? StopWhen::kBetweenSteps : StopWhen::kAtOnce,
                            [&] { RunConnected(run, mesh); });
    FinishLinks(run, mesh);
    run.session.Done();
  } catch (const std::exception& error) {
    return End(run, EndInFailure(run, error));
  }
  if (group != nullptr) {
    group->SetLinks(nullptr);
    group->SetLastWords({});
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
