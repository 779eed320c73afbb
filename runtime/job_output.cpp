#include "runtime/job_output.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/secrets/sha256.h"
#include "runtime/observe/progress.h"
#include "runtime/resume/lost_steps.h"
#include "runtime/stop_signals.h"

namespace trefoil::runtime {
namespace {

/// A party goes on to the next call with a message of the one before it, and, if it gets sums, of another. So
/// who begins call k of a session shows that the one before it has done k - 2, and the one before that k - 3,
/// if that is of the session.
jobs::BegunCalls BegunCallsOf(const ml::SessionHistory& earlier) {
  jobs::BegunCalls calls{.begun = CallsBegun(earlier)};
  for (const auto& session : earlier) {
    if (session.begun - 3 > session.first) calls.shared = std::max(calls.shared, session.begun - 3);
  }
  return calls;
}

}  // namespace

std::string JobOutput::session_id() const { return ToHex(mesh_.session()); }

/// The record as it is kept: with the job and the run that it is of, and what that promises.
dp::TrainingRecord JobOutput::Named(const Events& events) const {
  return {
      .job_hash = jobs::HashOf(job_), .run_id = RunId(), .events = events, .promise = jobs::PromiseOf(job_)};
}

void JobOutput::Reserve(const Events& plan, const Events& before) {
  auto reserved = budget_.Reserve(Named(plan), Named(before));
  for (const auto& budget : reserved) session_.Say(budget.line);
  session_.metrics().SetBudgets(std::move(reserved));
}

/// Settled with what is about to be opened: whatever happens then, it counts as opened.
void JobOutput::Settle(const Events& executed) {
  record_ = Named(executed);
  budget_.Settle(record_);
  WriteRecord(session_.folder() / "record.json", record_);
  if (job_.Steps().count == 0) ShowCharge();
}

/// A job without steps charges all at once.
void JobOutput::ShowCharge() {
  const auto epsilons = dp::Epsilons(record_, job_.delta(), job_.accountant());
  const auto& counters = mesh_.counters();
  session_.metrics().SetStep({.rounds = counters.rounds,
                              .bytes_sent = counters.bytes_sent + counters.bytes_offline,
                              .bytes_sent_to = counters.bytes_sent_to,
                              .epsilon_outsider = epsilons.outsider,
                              .epsilon_insider = epsilons.insider});
}

ml::Resumption JobOutput::Resume(mpc::Context& party) {
  ml::Resumption resumption;
  if (state_ != nullptr) {
    const auto agreed = Agree(party);
    RequireFewLosses(party, job_, agreed);
    resumption = state_->Begin(agreed, session_id(), [&](const ml::Checkpoint& checkpoint) {
      RequireOneCheckpoint(party, checkpoint, jobs::HashOf(job_), job_.ShapeOfCheckpoint().joint_slots,
                           session_.folder());
    });
  }
  const int first = resumption.from ? static_cast<int>(resumption.from->state.step) : 0;
  progress_.emplace(session_.folder() / "progress.csv", first);
  kept_ = progress_->kept();
  return resumption;
}

jobs::BegunCalls JobOutput::ResumeCalls(mpc::Context& party) {
  const auto agreed = Agree(party);
  if (state_ != nullptr) (void)state_->Begin(agreed, session_id());
  return BegunCallsOf(agreed.earlier);
}

/// What a resumed run says of its past.
std::string JobOutput::PastOf(const AgreedRun& agreed) const {
  const auto session = agreed.earlier.size() + 1;
  if (job_.Calls() > 0) {
    return fmt::format(
        "resuming run {} in session {}: {} of {} calls were begun before and are not made again",
        agreed.run_id, session, CallsBegun(agreed.earlier), job_.Calls());
  }
  const std::int64_t lost = LostSteps(agreed);
  const int first = agreed.from ? agreed.from->step : 0;
  const auto steps = job_.Steps();
  const auto releases = LostReleasesOf(steps, agreed);
  return fmt::format(
      "resuming run {} at step {} of {}, in session {}: {} steps were begun before, {} of them lost and "
      "charged{}",
      agreed.run_id, first, steps.count, session, first + lost, lost,
      releases.count() == 0 ? "" : ", and so were " + ToText(releases));
}

/// Agrees with the peers on what the session begins with.
AgreedRun JobOutput::Agree(mpc::Context& party) {
  auto claim = state_ != nullptr ? state_->claim() : RunClaim();
  claim.again = options_.again;
  claim.anew = job_.Calls() > 0 && !options_.resume;
  auto agreed = AgreeOnRun(party, claim, StepsOrCalls(job_));
  run_id_ = agreed.run_id.empty() ? session_id() : agreed.run_id;
  if (!agreed.earlier.empty()) {
    session_.Say(PastOf(agreed));
  } else if (options_.resume) {
    session_.Say("nothing to resume: the run begins");
  }
  return agreed;
}

void JobOutput::BeginCall(int call) {
  if (state_ != nullptr) state_->Announce(call + 1);
}

void JobOutput::Announce(const Events& executed, int steps) {
  budget_.Announce(Named(executed));
  if (state_ != nullptr) state_->Announce(steps);
  session_.Log(fmt::format("announced steps up to {}", steps), jobs::LogLevel::kDebug);
}

void JobOutput::Opened(const std::vector<jobs::ReleasedValue>& values) {
  session_.audit().Released(values);
  session_.Log(fmt::format("opened {} of the results ahead of the others: {} has them", values.size(),
                           session_.AuditFile().string()));
}

/// What earlier sessions took for the steps that were kept is counted, too.
void JobOutput::Step(const ml::StepReport& of_session) {
  auto report = of_session;
  report.seconds += kept_.seconds;
  report.rounds += kept_.rounds;
  report.bytes_sent += kept_.bytes_sent;
  auto line = report;
  if (report.step > 0 &&
      report.step == kept_.step) {  // once more, with what was lost, but not with what starting again took
    line.seconds = kept_.seconds;
    line.rounds = kept_.rounds;
    line.bytes_sent = kept_.bytes_sent;
  }
  // Before the first step there is a line where something was opened, or lost with an earlier session.
  const bool spent = report.step > 0 || report.epsilon_outsider > 0 || report.epsilon_insider > 0;
  last_ = report;
  session_.metrics().SetStep(report);
  if (spent) progress_->Append(line);
  session_.display().Show(report);
  const bool marked = report.step == report.steps || report.step % 50 == 0;
  const auto level = marked ? jobs::LogLevel::kInfo : jobs::LogLevel::kDebug;
  session_.Log(ProgressLine(report, jobs::FirstOf(job_)), level);
  if (report.clip) session_.Log(ClipLine(report.step, *report.clip), level);
  if (StopSignal() != 0)
    throw StoppedError(StopSignal(),
                       fmt::format("stopped by signal {} after step {}", StopSignal(), report.step));
}

void JobOutput::Keep(const ml::Checkpoint& checkpoint) {
  state_->Keep(checkpoint);
  session_.Log(fmt::format("kept a checkpoint of step {}", checkpoint.state.step), jobs::LogLevel::kDebug);
}

}  // namespace trefoil::runtime
