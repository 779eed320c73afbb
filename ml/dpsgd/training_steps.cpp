#include "ml/dpsgd/training_steps.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/secrets/random.h"
#include "ml/dpsgd/adaptive_clip.h"
#include "ml/plan/step_privacy.h"
#include "mpc/dealing/preprocessing.h"

namespace trefoil::ml {

using mpc::ArithShare;

int StepsPerEpsilon(const TrainingSettings& settings) {
  constexpr int kMarks = 20;
  if (settings.accountant != dp::AccountantKind::kPld) return 1;
  return std::max((settings.steps + kMarks - 1) / kMarks, 1);
}

Progress::Progress(mpc::Context& party, const StepPlan& plan, double sigma, const ExecutionHistory& executed,
                   int first, const std::function<void(const StepReport&)>& on_step)
    : party_(party),
      plan_(plan),
      sigma_(sigma),
      executed_(executed),
      on_step_(on_step),
      accountant_(plan.settings.accountant) {
  CountAll(first);
}

void Progress::Report(int step, std::optional<ClipReport> clip, const BytesSentTo& others) {
  if (step > counted_to_) CountTo(NextMark(step));
  const net::Counters& counters = party_.transport().counters();
  BytesSentTo sent = counters.bytes_sent_to;
  for (std::size_t peer = 0; peer < sent.size(); ++peer) sent.at(peer) += others.at(peer);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start_;
  on_step_({.step = step,
            .steps = plan_.settings.steps,
            .seconds = seconds.count(),
            .rounds = counters.rounds,
            .bytes_sent = std::accumulate(sent.begin(), sent.end(), std::uint64_t{0}),
            .bytes_sent_to = sent,
            .epsilon_outsider = epsilons_.outsider,
            .epsilon_insider = epsilons_.insider,
            .clip = clip});
}

/// The step to whose end epsilon is computed, so that what is reported is never below what was spent.
int Progress::NextMark(int step) const {
  const int stride = StepsPerEpsilon(plan_.settings);
  return std::min((step + stride - 1) / stride * stride, plan_.settings.steps);
}

void Progress::CountTo(int step) {
  // What is done again changes what was counted before; what is new adds to it.
  if (counted_to_ < executed_.FirstFresh()) return CountAll(step);
  accountant_.Add(EventOf(plan_, sigma_, executed_.Steps(step) - executed_.Steps(counted_to_),
                          executed_.Participation(step) - executed_.Participation(counted_to_)));
  Counted(step);
}

void Progress::CountAll(int step) {
  accountant_ = dp::RecordAccountant(plan_.settings.accountant);
  for (const auto& event : executed_.Events(step, false)) accountant_.Add(event);
  Counted(step);
}

void Progress::Counted(int step) {
  counted_to_ = step;
  epsilons_ = accountant_.Epsilons(plan_.settings.delta);
}

void Keep(const Steps& run, const TrainingState& state, const std::optional<ArithShare>& counts) {
  if (run.hooks.checkpoint_every > 0)
    run.hooks.on_checkpoint({state, run.source.Coins(), counts, run.class_counts});
}

namespace {

/// On a fixed clip.
TrainingState StepOnBlocks(const Steps& run, mpc::Context& party, int step, const TrainingState& state) {
  auto sum = Gradient(party, run.plan, *run.source.Next(party, step, 0), state.weights);
  for (int block = 1; block < run.plan.blocks; ++block)
    sum = sum + Gradient(party, run.plan, *run.source.Next(party, step, block), state.weights);
  return ApplyUpdate(party, run.plan, state, AddNoise(sum, run.noise.Next().values()));
}

AdaptiveStepResult StepOnAdaptiveClip(const Steps& run, mpc::Context& party, int step,
                                      const TrainingState& state) {
  auto stream = RandomStream::FromSystem();
  const StepNoise gradient = run.noise.Next();
  const StepNoise within = ClipCountNoise(run.plan, run.sigma, stream);
  return AdaptiveStep(party, run.plan, *run.source.Next(party, step, 0), state,
                      {.gradient = gradient.values(), .within = within.values()});
}

/// Of steps that ranks share, `state` stays as it was. Returns what an adaptive clip came to.
std::optional<ClipReport> DoStep(const Steps& run, mpc::Context& party, int step, TrainingState& state) {
  const TrainingSettings& settings = run.plan.settings;
  if (run.shared != nullptr) {
    run.shared->Step(party, *run.source.Next(party, step, 0));
  } else if (settings.adaptive) {
    auto done = StepOnAdaptiveClip(run, party, step, state);
    state = std::move(done.state);
    return ClipReport{.within = done.within, .next = ClipAt(settings, run.plan.grid, state.clip_at.value())};
  } else {
    state = StepOnBlocks(run, party, step, state);
  }
  return std::nullopt;
}

}  // namespace

TrainingState RunSteps(const Steps& run, TrainingState state) {
  const int last = run.plan.settings.steps;
  if (state.step == last) return state;
  // What a step in blocks has to be dealt is not to lie in memory all at once.
  const auto ahead = run.plan.settings.block_rows > 0 ? 0 : run.plan.settings.steps_ahead;
  mpc::Preprocessing runs(run.party, {.runs = last - state.step, .ahead = ahead, .rotate = true});
  try {
    for (int step = static_cast<int>(state.step); step < last; ++step) {
      run.announcements.Before(step);
      if (run.hooks.before_step) run.hooks.before_step(step);
      if (run.shared != nullptr) run.shared->WaitForOthers();
      std::optional<ClipReport> clip;
      runs.Run([&](mpc::Context& party) { clip = DoStep(run, party, step, state); });
      // Before the report, which ends the session where it was told to stop: or its last steps would be lost.
      if (IsCheckpointDue(step, last, run.hooks.checkpoint_every)) {
        if (run.shared != nullptr) state = run.shared->Gathered();
        Keep(run, state);
      }
      run.progress.Report(step + 1, clip,
                          run.shared != nullptr ? run.shared->sent_by_others() : BytesSentTo{});
    }
  } catch (...) {
    if (run.shared != nullptr) run.shared->Abort();
    throw;
  }
  return state;
}

}  // namespace trefoil::ml
