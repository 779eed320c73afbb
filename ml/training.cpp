#include "ml/training.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>

#include "base/error.h"
#include "ml/announcements.h"
#include "ml/dp_sgd.h"
#include "ml/evaluation.h"
#include "ml/held_out.h"
#include "ml/initial_weights.h"
#include "ml/initialisation.h"
#include "ml/noise_source.h"
#include "ml/public_sampling.h"
#include "ml/records.h"
#include "ml/row_keys.h"
#include "ml/step_privacy.h"
#include "mpc/beside.h"
#include "protocols/agreement.h"
#include "protocols/reveal.h"

namespace trefoil::ml {
namespace {

using mpc::ArithShare;
using mpc::FixedShare;
using mpc::Index;
using mpc::RingMatrix;
using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

void CheckOwnRecords(const TrainingSettings& settings, const OwnRecords& own, int self) {
  const std::int64_t capacity = settings.rows.at(settings.vertical ? 0 : static_cast<std::size_t>(self));
  if (own.x.rows() > capacity) {
    throw DataError("data: found " + std::to_string(own.x.rows()) + " rows, the job declares at most " +
                    std::to_string(capacity) + " for party " + std::to_string(self));
  }
  const std::int64_t features =
      settings.vertical ? settings.vertical->features.at(static_cast<std::size_t>(self)) : settings.features;
  if (own.x.rows() > 0 && own.x.cols() != features) {
    throw DataError("data: found " + std::to_string(own.x.cols()) + " features, the job declares " +
                    std::to_string(features));
  }
  const bool labels = !settings.vertical || settings.vertical->label_party == self;
  const auto rows = static_cast<std::size_t>(own.x.rows());
  Require(own.y.size() == (labels ? rows : 0), "Train: one label a row, where labels are held");
  Require(own.keys.size() == (settings.vertical ? rows : 0),
          "Train: one key a row with a vertical partition");
  Require(own.groups.size() == (settings.groups ? rows : 0), "Train: one group a row where there are groups");
  std::map<std::int64_t, std::int64_t> sizes;
  for (const std::int64_t group : own.groups) {
    Require(group >= 0 && group < own.x.rows(), "Train: groups numbered from 0");
    if (++sizes[group] > settings.group_rows) {
      throw DataError("data: found a group of more than " + std::to_string(settings.group_rows) +
                      " rows, expected no more (privacy.max_group_rows)");
    }
  }
}

void CheckHeldOut(const TrainingSettings& settings, const HeldOutRecords& held_out, int self) {
  if (settings.evaluation)
    CheckRecords(settings.evaluation->test, held_out.test, self, "evaluation", "evaluation.rows");
  if (!settings.initialisation || !SelectsByValidation(*settings.initialisation)) return;
  CheckRecords(settings.initialisation->validation, held_out.validation, self, "validation",
               "initialisation.validation_rows");
}

/// Rows of a batch matrix: padded ones, or those that common coins take on average.
Index ExpectedBatchRows(const StepPlan& plan) {
  if (plan.settings.sampling == Sampling::kPublic)
    return static_cast<Index>(plan.settings.expected_batch) + 1;
  return plan.batch_rows;
}

/// The shapes of what the owners input where each inputs `heights` rows.
std::array<protocols::Shape, 3> RecordShapes(const StepPlan& plan,
                                             const std::array<std::int64_t, 3>& heights) {
  std::array<protocols::Shape, 3> shapes;
  for (std::size_t owner = 0; owner < shapes.size(); ++owner)
    shapes[owner] = {.rows = heights[owner], .cols = EncodedColumns(plan)};
  return shapes;
}

/// Where a step's batch comes from.
class BatchSource {
 public:
  virtual ~BatchSource() = default;
  /// Inputs what all steps take from; once, before the first of them.
  virtual void Share(mpc::Context& party) = 0;
  virtual Batch Next(mpc::Context& party, int step) = 0;
  [[nodiscard]] virtual std::int64_t MaxParticipation(int steps) const = 0;
};

/// Every owner draws its own rows by private coins and inputs them afresh, padded to a public height.
class OwnerPoissonSource final : public BatchSource {
 public:
  OwnerPoissonSource(const StepPlan& plan, const OwnRecords& own) : plan_(plan), own_(own) {}

  void Share(mpc::Context&) override {}

  Batch Next(mpc::Context& party, int) override {
    const auto shapes = RecordShapes(plan_, BatchLimits(plan_.settings));
    const std::int64_t most = shapes[static_cast<std::size_t>(party.self())].rows;
    const double rate = SamplingRate(plan_.settings);
    auto drawn = plan_.settings.groups ? DrawGroups(coins_, own_.groups, rate, most)
                                       : DrawRows(coins_, own_.x.rows(), rate, most);
    const auto rows = PlaceRows(coins_, std::move(drawn), most);
    const auto shares = protocols::InputEach(party, EncodeRecords(plan_, own_, rows, most), shapes);
    return ToBatch(plan_, Stacked(Stacked(shares[0], shares[1]), shares[2]));
  }

  [[nodiscard]] std::int64_t MaxParticipation(int) const override { return 0; }

 private:
  const StepPlan& plan_;
  const OwnRecords& own_;
  RandomStream coins_ = RandomStream::FromSystem();
};

/// All rows of all owners, padded to their declared capacities.
ArithShare ShareOwnRows(mpc::Context& party, const StepPlan& plan, const OwnRecords& own) {
  std::vector<std::int64_t> all(static_cast<std::size_t>(own.x.rows()));
  std::iota(all.begin(), all.end(), 0);
  const std::int64_t capacity = plan.settings.rows[static_cast<std::size_t>(party.self())];
  auto slots = RandomStream::FromSystem();
  const RingMatrix encoded = EncodeRecords(plan, own, PlaceRows(slots, std::move(all), capacity), capacity);
  const auto shares = protocols::InputEach(party, encoded, RecordShapes(plan, plan.settings.rows));
  return Stacked(Stacked(shares[0], shares[1]), shares[2]);
}

/// All rows, put together from the parties' columns. Their places are common coins': every party knows the
/// rows.
ArithShare ShareOwnColumns(mpc::Context& party, const StepPlan& plan, const OwnRecords& own) {
  RequireSameKeys(party, own.keys);
  std::vector<std::int64_t> all(static_cast<std::size_t>(own.x.rows()));
  std::iota(all.begin(), all.end(), 0);
  const std::int64_t capacity = plan.settings.rows[0];
  RandomStream slots(protocols::JointSeed(party));
  const RingMatrix encoded =
      EncodeBlock(plan, party.self(), own, PlaceRows(slots, std::move(all), capacity), capacity);
  std::array<protocols::Shape, 3> shapes;
  for (int owner = 0; owner < net::kParties; ++owner)
    shapes.at(static_cast<std::size_t>(owner)) = {.rows = capacity, .cols = BlockColumns(plan, owner)};
  return JoinBlocks(plan, protocols::InputEach(party, encoded, shapes));
}

/// All rows are shared once; common coins choose among them.
class PublicSource final : public BatchSource {
 public:
  PublicSource(mpc::Context& party, const StepPlan& plan, const OwnRecords& own)
      : plan_(plan),
        own_(own),
        schedule_(protocols::JointSeed(party),
                  std::accumulate(plan.settings.rows.begin(), plan.settings.rows.end(), std::int64_t{0}),
                  SamplingRate(plan.settings), plan.settings.steps) {}

  void Share(mpc::Context& party) override {
    data_ = plan_.settings.vertical ? ShareOwnColumns(party, plan_, own_) : ShareOwnRows(party, plan_, own_);
  }

  Batch Next(mpc::Context&, int step) override {
    const auto& rows = schedule_.RowsOf(step);
    RingMatrix own(static_cast<Index>(rows.size()), data_->cols());
    RingMatrix next(own.rows(), own.cols());
    for (std::size_t k = 0; k < rows.size(); ++k) {
      own.row(static_cast<Index>(k)) = data_->own().row(rows[k]);
      next.row(static_cast<Index>(k)) = data_->next().row(rows[k]);
    }
    return ToBatch(plan_, {std::move(own), std::move(next)});
  }

  [[nodiscard]] std::int64_t MaxParticipation(int steps) const override {
    return schedule_.MaxParticipation(steps);
  }

 private:
  const StepPlan& plan_;
  const OwnRecords& own_;
  PublicSchedule schedule_;
  std::optional<ArithShare> data_;
};

std::unique_ptr<BatchSource> MakeSource(mpc::Context& party, const StepPlan& plan, const OwnRecords& own) {
  if (plan.settings.sampling == Sampling::kPublic) return std::make_unique<PublicSource>(party, plan, own);
  return std::make_unique<OwnerPoissonSource>(plan, own);
}

/// All that was executed, or is about to be.
std::vector<dp::RecordedEvent> EventsOf(const StepPlan& plan, double sigma, std::int64_t participation,
                                        std::vector<dp::RecordedEvent> before) {
  before.emplace_back(EventOf(plan, sigma, plan.settings.steps, participation));
  for (const auto& event : EvaluationEvents(plan)) before.push_back(event);
  return before;
}

/// The plan of all steps at `sigma`, after what was executed before.
PrivacyPlan PlanOf(const StepPlan& plan, double sigma, std::int64_t max_participation,
                   const std::vector<dp::RecordedEvent>& before) {
  auto events = EventsOf(plan, sigma, max_participation, before);
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

/// Counts what was executed and reports it.
class Progress {
 public:
  /// `participation_after` is how often any row was in a step, after so many steps.
  Progress(mpc::Context& party, const StepPlan& plan, double sigma,
           const std::vector<dp::RecordedEvent>& before,
           const std::function<void(const StepReport&)>& on_step,
           const std::function<std::int64_t(int)>& participation_after)
      : party_(party),
        plan_(plan),
        sigma_(sigma),
        on_step_(on_step),
        participation_after_(participation_after),
        accountant_(plan.settings.accountant) {
    for (const auto& earlier : before) accountant_.Add(earlier);
  }

  void Report(int step) {
    if (step == 0 || step > counted_) CountTo(NextMark(step));
    const net::Counters& counters = party_.transport().counters();
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start_;
    on_step_({.step = step,
              .steps = plan_.settings.steps,
              .seconds = seconds.count(),
              .rounds = counters.rounds,
              .bytes_sent = counters.bytes_sent + counters.bytes_offline,
              .epsilon_outsider = epsilons_.outsider,
              .epsilon_insider = epsilons_.insider});
  }

 private:
  /// The step to whose end epsilon is computed: `step`, but where that takes as long as several steps (PLD),
  /// the next of twenty marks. So what is reported is never below what was spent.
  [[nodiscard]] int NextMark(int step) const {
    constexpr int kMarks = 20;
    if (step == 0 || plan_.settings.accountant != dp::AccountantKind::kPld) return step;
    const int stride = (plan_.settings.steps + kMarks - 1) / kMarks;
    return std::min((step + stride - 1) / stride * stride, plan_.settings.steps);
  }

  void CountTo(int step) {
    if (step > counted_) {
      const std::int64_t participation = participation_after_(step);
      accountant_.Add(EventOf(plan_, sigma_, step - counted_, participation - participation_));
      participation_ = participation;
      counted_ = step;
    }
    epsilons_ = accountant_.Epsilons(plan_.settings.delta);
  }

  mpc::Context& party_;
  const StepPlan& plan_;
  double sigma_;
  const std::function<void(const StepReport&)>& on_step_;
  const std::function<std::int64_t(int)> participation_after_;
  dp::RecordAccountant accountant_;
  dp::EpsilonPair epsilons_;
  int counted_ = 0;
  std::int64_t participation_ = 0;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

std::optional<InitialisationPlan> InitialisationOf(const TrainingSettings& settings) {
  if (!settings.initialisation) return std::nullopt;
  return MakeInitialisationPlan(settings);
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

/// The layers of all weights, as they come out of the training.
LinearModel ModelOf(const StepPlan& plan, const Eigen::MatrixXd& all) {
  LinearModel model;
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

/// Opens the weights to the parties that the job names.
std::optional<LinearModel> Release(mpc::Context& party, const StepPlan& plan, const FixedShare& weights) {
  std::optional<RingMatrix> opened;
  for (const int receiver : plan.settings.release_to) {
    auto values = protocols::RevealTo(party, receiver, weights.ring());
    if (values) opened = std::move(values);
  }
  if (!opened) return std::nullopt;
  return ModelOf(plan, mpc::Decode(*opened, weights.frac_bits()));
}

}  // namespace

PrivacyPlan MakePlan(const TrainingSettings& settings) {
  const StepPlan plan = MakeStepPlan(settings);
  (void)MakeStepPlan(settings,
                     protocols::Form::kLatency);  // which form is run is known once links are measured
  // With public coins the largest participation is known once they are drawn; before, every step may take a
  // row.
  const std::int64_t participation = settings.sampling == Sampling::kPublic ? settings.steps : 0;
  const auto before = EventsOf(InitialisationOf(settings));
  const double sigma = ChooseSigma(plan, participation, before);
  RequireDeltaForBoth(plan, sigma, participation, before);
  PrivacyPlan privacy = PlanOf(plan, sigma, participation, before);
  if (settings.accountant == dp::AccountantKind::kPea && sigma > 0 &&
      !std::isfinite(privacy.epsilon_insider)) {
    throw ConfigError(
        "privacy.accountant: found \"pea\", which proves nothing for an epsilon beyond 2.3 ln(1/delta), as "
        "the insider's would be; expected \"rdp\" or \"pld\", or more noise");
  }
  return privacy;
}

mpc::Cost PlannedStepCost(const TrainingSettings& settings, protocols::Form form) {
  const StepPlan plan = MakeStepPlan(settings, form);
  const mpc::Cost step = DpSgdStepCost(plan, ExpectedBatchRows(plan));
  if (settings.sampling == Sampling::kPublic) return step;
  return Beside(step, protocols::InputEachCost(RecordShapes(plan, BatchLimits(settings))));
}

TrainingResult Train(mpc::Context& party, const TrainingSettings& settings, const OwnRecords& own,
                     const TrainingHooks& hooks, const HeldOutRecords& held_out) {
  const Index batch_rows = ExpectedBatchRows(MakeStepPlan(settings));  // refuses bad settings before sending
  CheckOwnRecords(settings, own, party.self());
  CheckHeldOut(settings, held_out, party.self());
  const auto initialisation = InitialisationOf(settings);
  const auto before = EventsOf(initialisation);
  const StepPlan plan = FasterPlan(settings, batch_rows, protocols::MeasureLink(party));
  const auto source = MakeSource(party, plan, own);
  const double sigma = ChooseSigma(plan, source->MaxParticipation(settings.steps), before);
  const std::string constants =
      Fingerprint(plan, sigma) + (initialisation ? Fingerprint(*initialisation) : std::string());
  TrainingResult result{.plan = PlanOf(plan, sigma, source->MaxParticipation(settings.steps), before),
                        .record = {},
                        .model = {}};
  result.record.events = result.plan.events;
  if (hooks.on_plan) hooks.on_plan(result.record);
  // Each party hears from both others here, so that none goes on before all have come so far.
  protocols::RequireSameEverywhere(party, constants, "constants of the training");
  Announcements announcements(
      plan, sigma, before, [&](int steps) { return source->MaxParticipation(steps); }, hooks.before_steps);
  announcements.Before(0);

  source->Share(party);
  NoiseSource noise(plan, sigma, RandomStream::FromSystem());
  TrainingState state = StartFrom(FirstWeights(party, plan, initialisation, own, held_out.validation));
  Progress progress(party, plan, sigma, before, hooks.on_step,
                    [&](int step) { return source->MaxParticipation(step); });
  progress.Report(0);
  Batch batch = source->Next(party, 0);
  for (int step = 0; step < settings.steps; ++step) {
    announcements.Before(step);
    const auto update = [&](mpc::Context& branch) {
      return DpSgdStep(branch, plan, batch, state, noise.Next().values());
    };
    if (step + 1 == settings.steps) {
      state = update(party);
    } else {
      // The next batch needs nothing of this step, so its input takes no round of its own.
      std::tie(state, batch) =
          mpc::Beside(party, update, [&](mpc::Context& branch) { return source->Next(branch, step + 1); });
    }
    progress.Report(step + 1);
  }
  // The record is kept before anything is released: who dies in between has released nothing unrecorded.
  hooks.on_record(result.record);
  if (settings.evaluation) result.evaluation = EvaluateOnShares(party, plan, state.weights, held_out.test);
  result.model = Release(party, plan, state.weights);
  if (settings.release_to.empty()) result.share = state.weights;
  return result;
}

}  // namespace trefoil::ml
