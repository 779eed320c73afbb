#include "ml/ranks/rank_steps.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <span>
#include <utility>

#include "base/error.h"
#include "base/secrets/sha256.h"
#include "ml/ranks/memory.h"
#include "ml/ranks/rank_rows.h"
#include "protocols/arithmetic/input_ahead.h"

namespace trefoil::ml {
namespace {

using mpc::ArithShare;
using mpc::Index;
using mpc::RingMatrix;
using mpc::Word;

/// As rank 0 tells it.
struct Told {
  double sigma = 0;
  std::int64_t first = 0;
  std::int64_t checkpoint_every = 0;
  std::int64_t form = 0;
  std::array<std::uint8_t, 32> constants{};
};

std::array<std::uint8_t, 32> ConstantsDigest(const SharedSteps& steps) {
  Sha256 hash;
  hash.Update(Fingerprint(steps.plan, steps.sigma));
  return hash.Digest();
}

/// All words of a share as ranks hold them: a row a rank, with its slice of the own component and then of the
/// next.
RingMatrix ToSlices(const ArithShare& all, int ranks, Index slice) {
  RingMatrix slices = RingMatrix::Zero(ranks, 2 * slice);
  for (Index k = 0; k < all.size(); ++k) {
    slices(k / slice, k % slice) = all.own().data()[k];
    slices(k / slice, slice + k % slice) = all.next().data()[k];
  }
  return slices;
}

/// The way back, of those slices that make up a share of this shape, at the beginning of the rows.
ArithShare FromSlices(const RingMatrix& slices, Index slice, const LayerShape& shape) {
  RingMatrix own(shape.inputs, shape.outputs);
  RingMatrix next(shape.inputs, shape.outputs);
  for (Index k = 0; k < own.size(); ++k) {
    own.data()[k] = slices(k / slice, k % slice);
    next.data()[k] = slices(k / slice, slice + k % slice);
  }
  return {std::move(own), std::move(next)};
}

}  // namespace

void TellOfSteps(mpc::Ranks& ranks, const SharedSteps& steps) {
  Told told{.sigma = steps.sigma,
            .first = steps.first,
            .checkpoint_every = steps.checkpoint_every,
            .form = static_cast<std::int64_t>(steps.plan.activation.options.form),
            .constants = ConstantsDigest(steps)};
  ranks.Broadcast(std::as_writable_bytes(std::span(&told, 1)));
  auto weights = steps.plan.class_weights.of_class;
  ranks.Broadcast(std::as_writable_bytes(std::span(weights)));
}

SharedSteps HearOfSteps(mpc::Ranks& ranks, const TrainingSettings& settings) {
  Told told;
  ranks.Broadcast(std::as_writable_bytes(std::span(&told, 1)));
  SharedSteps steps{.plan = MakeStepPlan(settings, static_cast<protocols::Form>(told.form)),
                    .sigma = told.sigma,
                    .first = told.first,
                    .checkpoint_every = told.checkpoint_every};
  ranks.Broadcast(std::as_writable_bytes(std::span(steps.plan.class_weights.of_class)));
  if (ConstantsDigest(steps) != told.constants)
    throw ConfigError("rank " + std::to_string(ranks.rank()) +
                      ": found other constants of the training than rank 0, expected the same job and build");
  return steps;
}

std::string LaneConstants(std::string constants, const mpc::Ranks& ranks) {
  return std::move(constants) + " rank " + std::to_string(ranks.rank()) + " of " +
         std::to_string(ranks.count());
}

bool IsCheckpointDue(std::int64_t step, std::int64_t steps, std::int64_t every) {
  return step + 1 == steps || (every > 0 && (step + 1) % every == 0);
}

LayerShape SliceShape(const StepPlan& plan, int ranks) {
  return {.inputs = (ShapeOfWeights(plan).weights() + ranks - 1) / ranks, .outputs = 1};
}

RankSteps::RankSteps(const StepPlan& plan, NoiseSource& noise, mpc::Ranks& ranks, const TrainingState& state)
    : plan_(plan), noise_(noise), ranks_(ranks) {
  const bool first = ranks.rank() == 0;
  const Index slice = SliceShape(plan, ranks.count()).inputs;
  const int bits = plan.settings.fraction_bits;
  RingMatrix weights =
      first ? ToSlices(state.weights.ring(), ranks.count(), slice) : RingMatrix(ranks.count(), 2 * slice);
  ranks.Broadcast(Memory(weights));
  RingMatrix velocity = first ? ToSlices(state.velocity.ring(), ranks.count(), slice) : RingMatrix();
  RingMatrix own(1, 2 * slice);
  ranks.Scatter(Memory(velocity), Memory(own));
  weights_ = {FromSlices(weights, slice, ShapeOfWeights(plan)), bits};
  const LayerShape of_slice = SliceShape(plan, ranks.count());
  slice_ = {.weights = {FromSlices(weights.row(ranks.rank()), slice, of_slice), bits},
            .velocity = {FromSlices(own, slice, of_slice), bits},
            .step = state.step};
}

void RankSteps::Step(mpc::Context& run, const Batch& rows) {
  const Index slice = slice_.weights.rows();
  RingMatrix sums = RingMatrix::Zero(ranks_.count() * slice, 1);
  {
    const mpc::AdditiveShare of_rows = Gradient(run, plan_, rows, weights_);
    std::copy_n(of_rows.part().data(), of_rows.part().size(), sums.data());
  }
  RingMatrix sum(slice, 1);
  ranks_.SumAndScatter(Elements(sums), Elements(sum));
  slice_ =
      ApplyUpdate(run, plan_, slice_, AddNoise(mpc::AdditiveShare(std::move(sum)), noise_.Next().values()));
  // What a rank has sent goes behind its slice: it takes no message of its own, for which a step would wait.
  const BytesSentTo& sent = run.transport().counters().bytes_sent_to;
  RingMatrix own(1, 2 * slice + net::kParties);
  own.leftCols(2 * slice) = ToSlices(slice_.weights.ring(), 1, slice);
  std::copy(sent.begin(), sent.end(), own.data() + 2 * slice);
  RingMatrix all(ranks_.count(), own.cols());
  ranks_.GatherToAll(Elements(own), Elements(all));
  weights_ = {FromSlices(all, slice, ShapeOfWeights(plan_)), weights_.frac_bits()};
  all.row(ranks_.rank()).setZero();
  const RingMatrix of_others = all.rightCols(net::kParties).colwise().sum();
  std::copy_n(of_others.data(), sent_by_others_.size(), sent_by_others_.begin());
}

TrainingState RankSteps::Gathered() {
  const bool first = ranks_.rank() == 0;
  const Index slice = slice_.velocity.rows();
  RingMatrix own = ToSlices(slice_.velocity.ring(), 1, slice);
  RingMatrix all(first ? ranks_.count() : 0, 2 * slice);
  ranks_.Gather(Memory(own), Memory(all));
  TrainingState state{.weights = weights_, .velocity = {}, .step = slice_.step};
  if (first) state.velocity = {FromSlices(all, slice, ShapeOfWeights(plan_)), weights_.frac_bits()};
  return state;
}

std::int64_t RowsAtOnce(const StepPlan& plan, int ranks) {
  if (ranks == 1) return plan.block_rows;
  const auto limits = RankLimits(plan.settings, ranks);
  return std::accumulate(limits.begin(), limits.end(), std::int64_t{0});
}

mpc::Cost RankStepCost(const StepPlan& plan, int ranks) {
  const mpc::Cost step = Then(GradientCost(plan, RowsAtOnce(plan, ranks)),
                              ApplyUpdateCost(plan, SliceShape(plan, ranks).inputs));
  if (plan.settings.sampling != Sampling::kOwnerPoisson) return step;
  const auto shapes = RecordShapes(plan, RankLimits(plan.settings, ranks));
  return Then(protocols::InputAheadCost(shapes, NarrowRows(plan)), step);
}

}  // namespace trefoil::ml
