#include "ml/dpsgd/training.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "base/error.h"
#include "dp/record/event_json.h"
#include "ml/batches/batch_source.h"
#include "ml/batches/deposited_rows.h"
#include "ml/batches/record_checks.h"
#include "ml/dpsgd/dp_sgd.h"
#include "ml/dpsgd/initial_weights.h"
#include "ml/dpsgd/initialisation.h"
#include "ml/dpsgd/training_steps.h"
#include "ml/noise/class_balance.h"
#include "ml/noise/noise_source.h"
#include "ml/on_shares/evaluation.h"
#include "ml/plan/step_journal.h"
#include "ml/plan/step_privacy.h"
#include "ml/plan/step_ranges.h"
#include "ml/ranks/rank_rows.h"
#include "ml/ranks/rank_steps.h"
#include "ml/ranks/serve_steps.h"
#include "protocols/arithmetic/agreement.h"
#include "protocols/arithmetic/input_ahead.h"
#include "protocols/arithmetic/reveal.h"

namespace trefoil::ml {
namespace {

using mpc::ArithShare;
using mpc::FixedShare;
using mpc::Index;
using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// What is executed before the first step, once a run.
std::vector<dp::RecordedEvent> EventsBeforeSteps(const StepPlan& plan,
                                                 const std::optional<InitialisationPlan>& initialisation) {
  std::vector<dp::RecordedEvent> events;
  for (const auto& opened : {plan.settings.ranges, plan.settings.standardisation})
    if (opened) events.emplace_back(*opened);
  for (const auto& more : {ClassCountEvents(plan), EventsOf(initialisation)})
    events.insert(events.end(), more.begin(), more.end());
  return events;
}

/// What the three have to agree on before anything opens. The noise of sums before the steps is in it as that
/// of the steps: where it follows from a target, each party computes it by itself, adds noise of its own, and
/// charges all three's by that.
std::string ConstantsOf(const StepPlan& plan, double sigma,
                        const std::optional<InitialisationPlan>& initialisation) {
  std::string constants = Fingerprint(plan, sigma);
  if (initialisation) constants += Fingerprint(*initialisation);
  for (const auto& opened : {plan.settings.ranges, plan.settings.standardisation})
    if (opened) constants += ' ' + dp::EventToJson(*opened).dump();
  return constants;
}

/// The plan of all steps at `sigma`, with all that was executed besides; `evaluates`: this session, too.
PrivacyPlan PlanOf(const StepPlan& plan, double sigma, const ExecutionHistory& executed,
                   bool evaluates = true) {
  auto events = executed.Events(plan.settings.steps, evaluates);
  dp::RecordAccountant accountant(plan.settings.accountant);
  for (const auto& event : events) accountant.Add(event);
  const dp::EpsilonPair epsilons = accountant.Epsilons(plan.settings.delta);
  return {.sampling_rate = SamplingRate(plan.settings),
          .sigma = sigma,
          .sensitivity = plan.sensitivity,
          .epsilon_outsider = epsilons.outsider,
          .epsilon_insider = epsilons.insider,
          .epsilon_error = epsilons.error,
          .delta = plan.settings.delta,
          .events = std::move(events)};
}

/// The insider's epsilon of all that has a bound.
double BoundedInsider(const PrivacyPlan& plan, const TrainingSettings& settings) {
  const dp::TrainingRecord record{.job_hash = {}, .run_id = {}, .events = dp::Bounded(plan.events)};
  return dp::Epsilons(record, plan.delta, settings.accountant).insider;
}

std::optional<InitialisationPlan> InitialisationOf(const TrainingSettings& settings) {
  if (!settings.initialisation) return std::nullopt;
  return MakeInitialisationPlan(settings);
}

/// In how many steps any one row is with public sampling, at most; else 0.
std::int64_t ParticipationOf(const TrainingSettings& settings) {
  if (settings.sampling != Sampling::kPublic) return 0;
  return MaxParticipation(LargestBatch(settings), SamplingRate(settings), settings.steps);
}

/// In how many steps any one row is, at most, once a session that begins at step `first`, or `from_start`,
/// has come to a step, of all that drew by its coins.
std::function<std::int64_t(int)> ParticipationAt(const TrainingSettings& settings,
                                                 const SessionHistory& earlier, bool from_start, int first) {
  if (settings.sampling != Sampling::kPublic) return [](int) -> std::int64_t { return 0; };
  const auto bounds = ParticipationBounds(LargestBatch(settings), SamplingRate(settings), settings.steps);
  return [most = ParticipationAfter(bounds, StepsByTheseCoins(earlier, from_start), first), first](int step) {
    return most.at(static_cast<std::size_t>(step - first));
  };
}

/// What the owners' local models make of them; else zeros, or a network's public random weights.
FixedShare FirstWeights(mpc::Context& party, const StepPlan& plan,
                        const std::optional<InitialisationPlan>& initialisation, const OwnRecords& own,
                        const OwnRecords& validation) {
  if (initialisation) return Initialise(party, plan, *initialisation, own, validation);
  const LayerShape shape = ShapeOfWeights(plan);
  const ArithShare zero = ArithShare::Zero(shape.inputs, shape.outputs);
  if (!IsNetwork(plan)) return {zero, plan.settings.fraction_bits};
  RandomStream coins(protocols::JointSeed(party));
  return {AddPublic(party, zero, InitialWeights(plan, coins)), plan.settings.fraction_bits};
}

/// Opens what the evaluation counts once in a run: new counts only after all three have kept them, so that
/// whoever goes on with the run opens the same ones, as `counts`, and chooses the same threshold.
/// `before_release`: called before.
EvaluationResult Evaluate(const Steps& run, const TrainingState& state, const OwnRecords& test,
                          const std::optional<ArithShare>& counts,
                          const std::function<void()>& before_release) {
  // Noted before the record is kept, which says that it was executed: else a run that dies in between would
  // seem to be older than its record.
  if (!counts && run.hooks.before_evaluation) run.hooks.before_evaluation();
  const auto before_opening = [&](const ArithShare& shares) {
    if (!counts && run.hooks.on_checkpoint) {
      Keep(run, state, shares);
      protocols::Barrier(run.party);
    }
    before_release();
  };
  return EvaluateOnShares(run.party, run.plan, state.weights, test,
                          {.counts = counts, .before_opening = before_opening});
}

/// The layers of all weights, as they come out of the training.
Model ModelOf(const StepPlan& plan, const Eigen::MatrixXd& all) {
  Model model;
  Index first = 0;
  for (const LayerShape& shape : plan.layers) {
    const Eigen::MatrixXd layer =
        IsNetwork(plan)
            ? RowMajor(Eigen::Map<const RowMajor>(all.data() + first, shape.inputs, shape.outputs))
            : RowMajor(all);
    first += shape.weights();
    const Eigen::MatrixXd weights = layer.topRows(shape.inputs - 1);
    const Eigen::VectorXd bias = layer.bottomRows(1).transpose();
    if (&shape != &plan.layers.back()) {
      model.hidden.push_back({.weights = weights, .bias = bias});
    } else {
      model.weights = weights;
      model.bias = bias;
    }
  }
  if (IsNetwork(plan)) model.activation_bound = plan.settings.activation_bound;
  return model;
}

/// What a caller is to bring together, before anything is sent.
void CheckInputs(const TrainingSettings& settings, const OwnRecords& own, const TrainingHooks& hooks,
                 const HeldOutRecords& held_out, const Resumption& resumption,
                 const std::vector<ArithShare>& deposited, const DepositedBatch& batch, int self) {
  CheckOwnRecords(settings, own, self);
  CheckHeldOut(settings, held_out, self);
  const bool in_batches = settings.batches.has_value() || settings.block_rows > 0;
  Require((settings.deposited && !in_batches) != deposited.empty() && in_batches == static_cast<bool>(batch),
          "Train: deposited rows, or batches or blocks of them, where the settings say so");
  Require(!settings.standardisation || (hooks.before_records && !resumption.from),
          "Train: means and scales, which no checkpoint has, are opened before the first step");
  Require(!settings.ranges || settings.standardisation, "Train: ranges are found for means and scales");
}

/// Makes the steps those of all ranks, which are told of them: `shared` is what this one does of each.
void ShareOut(Steps& steps, mpc::Ranks& ranks, const TrainingState& state, std::optional<RankSteps>& shared) {
  TellOfSteps(ranks, {steps.plan, steps.sigma, state.step, steps.hooks.checkpoint_every});
  if (state.step == steps.plan.settings.steps) return;
  steps.shared = &shared.emplace(steps.plan, steps.noise, ranks, state);
  steps.source.Share(steps.party);
}

}  // namespace

std::optional<Model> ReleaseModel(mpc::Context& party, const StepPlan& plan, const FixedShare& weights) {
  const auto opened = protocols::RevealToEach(party, plan.settings.release_to, weights.ring(),
                                              protocols::ReleaseReason::kTrainedModel);
  if (!opened) return std::nullopt;
  return ModelOf(plan, mpc::Decode(*opened, weights.frac_bits()));
}

Eigen::RowVectorXf OwnRecords::Row(std::int64_t row) const {
  if (!stored) return x.row(row);
  Eigen::RowVectorXf out(stored->features);
  stored->read(row, {out.data(), static_cast<std::size_t>(out.size())});
  return out;
}

TrainingSettings WithCalibratedSigma(TrainingSettings settings) {
  if (!NeedsCalibratedSigma(settings)) return settings;
  const StepPlan plan = MakeStepPlan(settings);
  const auto before = EventsBeforeSteps(plan, InitialisationOf(settings));
  settings.calibrated_sigma = ChooseSigma(plan, ParticipationOf(settings), dp::Bounded(before));
  return settings;
}

PrivacyPlan MakePlan(const TrainingSettings& settings) { return MakePlan(settings, {}, true, 0); }

PrivacyPlan MakePlan(const TrainingSettings& settings, const SessionHistory& earlier, bool from_start,
                     int first) {
  CheckRowUnits(settings);
  const StepPlan plan = MakeStepPlan(settings);
  (void)MakeStepPlan(settings,
                     protocols::Form::kLatency);  // which form is run is known once links are measured
  const std::int64_t participation = ParticipationOf(settings);
  const auto before = EventsBeforeSteps(plan, InitialisationOf(settings));
  // No noise makes up for what has no bound: it is chosen for the rest.
  const double sigma = ChooseSigma(plan, participation, dp::Bounded(before));
  const ExecutionHistory executed(plan, sigma, before, earlier, from_start, first,
                                  ParticipationAt(settings, earlier, from_start, first));
  PrivacyPlan privacy = PlanOf(plan, sigma, executed);
  if (settings.accountant == dp::AccountantKind::kPea && sigma > 0 &&
      !std::isfinite(BoundedInsider(privacy, settings))) {
    throw ConfigError(
        "privacy.accountant: found \"pea\", which proves nothing for an epsilon beyond 2.3 ln(1/delta), as "
        "the insider's would be; expected \"rdp\" or \"pld\", or more noise");
  }
  return privacy;
}

mpc::Cost PlannedStepCost(const TrainingSettings& settings, protocols::Form form, int ranks) {
  const StepPlan plan = MakeStepPlan(settings, form);
  CheckRanks(settings, ranks);
  if (ranks > 1) return RankStepCost(plan, ranks);
  if (settings.sampling == Sampling::kDeposited || settings.block_rows > 0) {
    const mpc::Cost lifting = settings.batches ? LiftDepositedCost(plan, plan.block_rows) : mpc::Cost();
    const mpc::Cost block =
        Then(Then(lifting, EncodeDepositedCost(plan, plan.block_rows)), GradientCost(plan, plan.block_rows));
    mpc::Cost cost = block;
    for (std::int64_t k = 1; k < plan.blocks; ++k) cost = Then(cost, block);
    return Then(cost, ApplyUpdateCost(plan, ShapeOfWeights(plan).weights()));
  }
  const mpc::Cost step = DpSgdStepCost(plan, plan.batch_rows);
  if (settings.sampling != Sampling::kOwnerPoisson) return step;
  return Then(protocols::InputAheadCost(RecordShapes(plan, BatchLimits(settings)), NarrowRows(plan)), step);
}

TrainingResult Train(mpc::Context& party, const TrainingSettings& settings, const OwnRecords& own,
                     const TrainingHooks& hooks, const HeldOutRecords& held_out, const Resumption& resumption,
                     std::vector<ArithShare> deposited, const DepositedBatch& batch, mpc::Ranks* ranks) {
  const int rank_count = ranks == nullptr ? 1 : ranks->count();
  const bool shares_steps = rank_count > 1;
  const Index rows = RowsAtOnce(MakeStepPlan(settings), rank_count);  // refuses bad settings before sending
  CheckRanks(settings, rank_count);
  CheckInputs(settings, own, hooks, held_out, resumption, deposited, batch, party.self());
  auto initialisation = InitialisationOf(settings);
  const auto link = protocols::MeasureLink(party);
  StepPlan plan = FasterPlan(settings, rows, link);
  if (hooks.on_link) hooks.on_link(link, plan.activation.options.form);
  const bool from_start = !resumption.from;
  const int first = from_start ? 0 : static_cast<int>(resumption.from->state.step);
  const std::optional<PublicCoins> new_coins;
  const auto before = EventsBeforeSteps(plan, initialisation);
  // The noise is fixed before the coins: it is published, and they are not.
  const double sigma = ChooseSigma(plan, ParticipationOf(settings), dp::Bounded(before));
  const auto source = shares_steps
                          ? MakeRankSource(party.self(), plan, own, *ranks, RandomStream::FromSystem())
                          : MakeBatchSource(party, plan, own, from_start ? new_coins : resumption.from->coins,
                                            std::move(deposited), batch);
  const ExecutionHistory executed(plan, sigma, before, resumption.earlier, from_start, first,
                                  ParticipationAt(settings, resumption.earlier, from_start, first));
  const std::string constants = ConstantsOf(plan, sigma, initialisation);
  const auto counts = from_start ? std::nullopt : resumption.from->counts;
  TrainingResult result{.plan = PlanOf(plan, sigma, executed, !counts), .record = {}, .model = {}};
  result.record.events = result.plan.events;
  if (hooks.on_plan)
    hooks.on_plan(result.record, {.job_hash = {}, .run_id = {}, .events = executed.EventsBefore()});
  // Each party hears from both others here, so that none goes on before all have come so far.
  protocols::RequireSameEverywhere(party, shares_steps ? LaneConstants(constants, *ranks) : constants,
                                   "constants of the training");
  StepJournal announcements(settings.steps, executed, hooks.before_steps);
  announcements.Before(first);
  if (settings.standardisation) {
    hooks.before_records(party);
    CheckOwnRecords(settings, own, party.self());
  }

  if (first < settings.steps && !shares_steps) source->Share(party);
  result.class_counts = BalanceClasses(party, own, resumption.from, plan, initialisation);
  result.class_weights = WeightsOf(plan.class_weights);
  NoiseSource noise(plan, sigma, shares_steps ? SliceShape(plan, rank_count) : ShapeOfWeights(plan),
                    RandomStream::FromSystem());
  Progress progress(party, plan, sigma, executed, first, hooks.on_step);
  TrainingState state = from_start
                            ? StartFrom(FirstWeights(party, plan, initialisation, own, held_out.validation))
                            : resumption.from->state;
  if (from_start && settings.adaptive) state.clip_at = 0;
  Steps steps{party, plan, *source, noise, sigma, announcements, progress, hooks, result.class_counts};
  if (from_start) Keep(steps, state);
  std::optional<RankSteps> shared;
  if (shares_steps) ShareOut(steps, *ranks, state, shared);
  progress.Report(first);
  state = RunSteps(steps, std::move(state));
  if (settings.adaptive) result.last_clip = ClipAt(settings, plan.grid, state.clip_at.value());
  // Nothing is released before all three have kept the last checkpoint: whoever dies from here on, the run
  // goes on from that one, and releases the same weights again.
  if (hooks.on_checkpoint) protocols::Barrier(party);
  // All three have kept the record before anything is released to any: what opens at one may take no message
  // of another behind its record, which would then not be charged with it.
  const auto before_release = [&] {
    if (hooks.before_release) hooks.before_release();
    hooks.on_record(result.record);
    protocols::Barrier(party);
  };
  if (settings.evaluation) {
    result.evaluation = Evaluate(steps, state, held_out.test, counts, before_release);
  } else {
    before_release();
  }
  result.model = ReleaseModel(party, plan, state.weights);
  if (settings.release_to.empty()) result.share = state.weights;
  return result;
}

}  // namespace trefoil::ml
