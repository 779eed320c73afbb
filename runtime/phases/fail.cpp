#include "runtime/phases/fail.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <chrono>

#include "base/error.h"
#include "base/error_report.h"
#include "runtime/abort_reason.h"
#include "runtime/run_directory.h"

namespace trefoil::runtime {
namespace {

/// The error as the operator reads it: "lost party 1 at step 17 of 439: closed the connection". By any
/// thread: what the run's own one changes meanwhile is not read.
std::string Explain(const std::exception& error, PartyRun& run) {
  const int steps = run.steps();
  const int done = run.session.metrics().step();
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

/// Whether the others have finished, as far as can be told: this party has its results, and no peer comes. So
/// it must have died after writing them and before removing its checkpoints.
bool WaitsInVain(const PartyRun& run, const std::exception& error) {
  const bool nobody = dynamic_cast<const NetworkError*>(&error) != nullptr && !run.session.met_a_peer();
  return nobody && HoldsResults(run.session.folder());
}

int EndWithOwnResults(PartyRun& run, const std::exception& error) {
  run.session.Say(
      fmt::format("note: no peer came ({}); this party has its results, and keeps its last "
                  "checkpoint: run --resume at all three if another one lacks its own",
                  error.what()));
  run.session.Done();
  return kDone;
}

/// How an operator may go on after a failure.
void SayHowToGoOn(PartyRun& run, const RankFailure& failure) {
  if (failure.refused_again) return;
  if (!run.state || run.state->claim().run_id.empty()) return;
  run.session.Say(fmt::format(
      "the run can go on: start all three parties with --resume --out and their run directories, here {}",
      run.session.folder().string()));
}

/// `error`, or what another rank has failed with before, by which this one was ended.
RankFailure FirstFailure(PartyRun& run, const std::exception& error) {
  if (run.group == nullptr) return FailureOf(run, error);
  const bool ended = dynamic_cast<const RanksEnded*>(&error) != nullptr;
  const auto known = [&] {
    return CauseAmong(FailureOf(run, error),
                      run.group->Failure(ended ? kCauseComes : std::chrono::milliseconds(0)));
  };
  auto failure = known();
  if (!failure.may_follow()) return failure;
  run.group->HearLinks();
  return known();
}

void TakeOver(PartyRun& run) {
  if (run.group != nullptr) run.group->TakeOver();
}

}  // namespace

RankFailure FailureOf(PartyRun& run, const std::exception& error) {
  if (dynamic_cast<const NetworkError*>(&error) != nullptr && run.session.connected()) {
    if (const auto stopped = run.session.watch().Stopped()) return FailureOf(run, *stopped);
  }
  return ExplainByLinks(error, run.session.links(), [&run](const std::exception& of) {
    RankFailure failure{.code = ExitCodeOf(of),
                        .reason = ReasonFor(of),
                        .cause = Explain(of, run),
                        .refused_again = WouldBeRefusedAgain(of)};
    if (run.group != nullptr)
      failure.cause = fmt::format("party {}, rank 0: {}", run.session.party().id, failure.cause);
    return failure;
  });
}

RankFailure EndInFailure(PartyRun& run, const std::exception& error) {
  TakeOver(run);
  if (WaitsInVain(run, error)) return {.code = EndWithOwnResults(run, error)};
  auto failure = FirstFailure(run, error);
  run.session.Fail(failure.code, failure.reason, failure.cause);
  run.budget->StopOrLog([&](const std::string& line) { run.session.Log(line); });
  if (run.session.connected()) SayHowToGoOn(run, failure);
  return failure;
}

RankFailure EndBeforeStart(PartyRun& run, const std::exception& error, const net::MeshConfig& config) {
  TakeOver(run);
  RankFailure failure{.code = ExitCodeOf(error), .reason = ReasonFor(error), .cause = CauseOf(error)};
  if (dynamic_cast<const RanksEnded*>(&error) != nullptr)
    failure = run.group->Failure(kCauseComes).value_or(failure);
  run.session.FailBeforeStart(failure.code, failure.reason, failure.cause, config);
  return failure;
}

}  // namespace trefoil::runtime
