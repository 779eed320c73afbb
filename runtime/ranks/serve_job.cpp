#include "runtime/ranks/serve_job.h"

#include <spdlog/fmt/fmt.h>

#include "base/console.h"
#include "base/error_report.h"
#include "base/threads/thread_pool.h"
#include "runtime/abort_reason.h"
#include "runtime/machine_check.h"
#include "runtime/mesh_setup.h"
#include "runtime/observe/run_watch.h"
#include "runtime/party_session.h"
#include "runtime/ranks/lane_report.h"
#include "runtime/ranks/same_build.h"
#include "runtime/stop_signals.h"

namespace trefoil::runtime {
namespace {

bool EndedByAnother(const std::exception& error) {
  return dynamic_cast<const RanksEnded*>(&error) != nullptr;
}

/// The error as the operator of the party reads it.
RankFailure Explain(const std::exception& error, int rank, int party, bool connected) {
  const auto* lost = EndedByAnother(error) ? nullptr : dynamic_cast<const NetworkError*>(&error);
  const auto cause =
      lost != nullptr ? ExplainLoss(*lost, "while computing", connected, rank) : CauseOf(error);
  return {.rank = rank,
          .code = ExitCodeOf(error),
          .reason = ReasonFor(error),
          .cause = fmt::format("party {}, rank {}: {}", party, rank, cause),
          .refused_again = WouldBeRefusedAgain(error)};
}

/// The same with what the links know, which are null before the peers are met.
RankFailure OwnFailure(const std::exception& error, int rank, int party, const net::MeshTransport* links) {
  return ExplainByLinks(error, links,
                        [=](const std::exception& of) { return Explain(of, rank, party, links != nullptr); });
}

/// The failure of another rank that has made this error, if that becomes known; else the error itself.
RankFailure FailureOf(const std::exception& error, RankGroup& group, int party,
                      const net::MeshTransport* links) {
  if (EndedByAnother(error)) {
    if (auto first = group.Failure(kCauseComes)) return *std::move(first);
  }
  return OwnFailure(error, group.ranks().rank(), party, links);
}

void Compute(const RunOptions& options, jobs::Job& job, RankGroup& group, net::MeshTransport& mesh) {
  const double before = ProcessorSeconds(&group);
  ThreadPool pool(ThreadsFor(options.threads));
  mpc::Context context(mesh, AgreeOnSessionKeys(mesh), pool);
  group.ranks().Barrier();  // as rank 0 has it: all lanes stand before anything is charged
  job.Serve(context);
  (void)GatherReports(group.ranks(), {.counters = mesh.counters(),
                                      .processor_seconds = ProcessorSeconds(&group) - before,
                                      .waited_seconds = group.waited().seconds});
}

/// As rank 0 has it: what the peers still have to take is delivered, unless a signal ends that.
void FinishLinks(net::MeshTransport& mesh, std::chrono::milliseconds slow) {
  RunWatch watch(mesh, nullptr, slow,
                 [](const std::string& line) { StandardError().Write("warning: " + OneLine(line) + "\n"); });
  watch.Run(StopWhen::kAtOnce, [&] { mesh.Finish(); });
}

}  // namespace

RankLimits LimitsOf(const RunOptions& options) {
  jobs::PartyFile party;
  try {
    party = jobs::ReadParty(options.config, options.types);
  } catch (const std::exception&) {
    return {};  // it is found again, and reported once, when the ranks have met
  }
  if (party.ranks == 1) RequireRanks(1);
  return {.party = party.id, .start = party.start_timeout, .silence = party.peer_timeout};
}

int ServeJob(const RunOptions& options, RankGroup& group) {
  const auto party = jobs::ReadParty(options.config, options.types);
  RequireRanks(party.ranks);
  const int rank = group.ranks().rank();
  if (const auto warning = SwapWarning(group.memory_locked()); !warning.empty())
    StandardError().Write(fmt::format("warning: party {}, rank {}: {}\n", party.id, rank, warning));
  const auto job = jobs::ReadJob(options.job, {}, options.types);
  job->UseRanks(party.ranks);
  job->TakeRanks(group.ranks());
  const auto config = MeshConfigOf(party, job->Json(), rank);
  if (!WaitForBegin(group.ranks())) return kDone;
  std::unique_ptr<net::MeshTransport> mesh;  // outlives what fails: the group tells the peers why
  try {
    RequireSameJob(group.ranks(), jobs::HashOf(*job), party.id);
    job->ServeInputs(party, options.config, {.threads = options.threads, .types = options.types});
    group.ranks().Barrier();  // rank 0 has prepared all that it can without the peers
    mesh = net::ConnectMesh(config);
    NoteStopSignals();  // rank 0 gets the same, and ends the run
    group.SetLinks(mesh.get());
    group.SetLastWords({.explain = [rank, id = party.id, links = mesh.get()](const std::exception& error) {
      return OwnFailure(error, rank, id, links);
    }});
    Compute(options, *job, group, *mesh);
    FinishLinks(*mesh, party.peer_timeout);
  } catch (const std::exception& error) {
    group.End(FailureOf(error, group, party.id, mesh.get()));
  }
  group.SetLinks(nullptr);
  group.SetLastWords({});
  return kDone;
}

}  // namespace trefoil::runtime
