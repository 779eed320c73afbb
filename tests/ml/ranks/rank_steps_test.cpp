#include "ml/ranks/rank_steps.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "base/error.h"
#include "ml/noise/noise_source.h"
#include "ml/ranks/rank_rows.h"
#include "ml/ranks/serve_steps.h"
#include "mpc/dealing/preprocessing.h"
#include "protocols/arithmetic/agreement.h"
#include "tests/support/ml_test.h"
#include "tests/support/thread_ranks.h"

namespace trefoil::ml {
namespace {

using mpc::Index;
using namespace testing_support;  // NOLINT(google-build-using-namespace): test helpers only

TEST(IsCheckpointDue, AfterSoManyStepsAndTheLast) {
  std::vector<std::int64_t> due;
  for (std::int64_t step = 0; step < 7; ++step) {
    if (IsCheckpointDue(step, 7, 3)) due.push_back(step);
    EXPECT_EQ(IsCheckpointDue(step, 7, 0), step == 6);
  }
  EXPECT_EQ(due, (std::vector<std::int64_t>{2, 5, 6}));
}

TEST(SliceShape, CoversAllWeights) {
  TrainingSettings settings = SmallSettings();  // 7 x 3
  EXPECT_EQ(SliceShape(MakeStepPlan(settings), 4).inputs, 6);
  EXPECT_EQ(SliceShape(MakeStepPlan(settings), 7).inputs, 3);
  EXPECT_EQ(SliceShape(MakeStepPlan(settings), 4).outputs, 1);
}

SecretKey KeyOfNoise(int rank, int party) {
  return FixedKey(static_cast<std::uint8_t>(1 + 3 * rank + party));
}

// On rows that are padding throughout: what is left of a step is the noise, each number of it the sum of
// those that the one rank of each party draws which holds the weight.
TEST(RankSteps, AddTheNoiseOfTheirSliceOnce) {
  TrainingSettings settings = SmallSettings();
  settings.truncation = protocols::Rounding::kExact;
  settings.loss = Loss::kSquared;
  settings.row_norm = 1;
  constexpr int kRanks = 4;
  constexpr double kSigma = 2;
  const StepPlan plan = MakeStepPlan(settings);
  ASSERT_TRUE(HasNarrowRows(plan));
  const LayerShape slice = SliceShape(plan, kRanks);
  const LayerShape shape = ShapeOfWeights(plan);
  std::mutex mutex;
  // as each rank has them, the components of three parties added up
  std::array<mpc::RingMatrix, kRanks> weights;
  weights.fill(mpc::RingMatrix::Zero(shape.inputs, shape.outputs));
  RunRanks(kRanks, Seed{3}, [&](mpc::Context& party, mpc::Ranks& ranks) {
    NoiseSource noise(plan, kSigma, slice, RandomStream(KeyOfNoise(ranks.rank(), party.self())));
    const mpc::ArithShare zero = mpc::ArithShare::Zero(shape.inputs, shape.outputs);
    RankSteps steps(plan, noise, ranks, StartFrom({zero, settings.fraction_bits}));
    steps.WaitForOthers();
    steps.Step(party, DealBatch(party, plan, {}, 8));
    const TrainingState state = steps.Gathered();
    EXPECT_EQ(state.step, 1);
    EXPECT_EQ(state.velocity.rows(), ranks.rank() == 0 ? shape.inputs : 0);
    const std::lock_guard lock(mutex);
    weights.at(static_cast<std::size_t>(ranks.rank())) += state.weights.ring().own();
  });
  mpc::RingMatrix drawn = mpc::RingMatrix::Zero(kRanks * slice.inputs, 1);
  for (int rank = 0; rank < kRanks; ++rank) {
    for (int party = 0; party < net::kParties; ++party) {
      NoiseSource noise(plan, kSigma, slice, RandomStream(KeyOfNoise(rank, party)));
      drawn.middleRows(rank * slice.inputs, slice.inputs) += noise.Next().values();
    }
  }
  for (const mpc::RingMatrix& of_rank : weights) {
    for (Index k = 0; k < shape.weights(); ++k) {
      const auto moved = mpc::Signed(MantissaAt(plan, 0) * drawn.data()[k]) >> plan.update_shift;  // down
      EXPECT_EQ(mpc::Signed(of_rank.data()[k]), -moved) << k;
    }
  }
}

/// All parties' rows of one batch after the other, by the coins of `ranks` machines: of each party as many rows
/// as one machine inputs, in the order that it has drawn them.
class DrawnTogether {
 public:
  DrawnTogether(const StepPlan& plan, const std::array<OwnRecords, net::kParties>& records, int ranks)
      : plan_(plan), records_(records), ranks_(ranks) {}

  mpc::RingMatrix Next() {
    const auto heights = BatchLimits(plan_.settings);
    const auto of_ranks = RankLimits(plan_.settings, ranks_);
    mpc::RingMatrix all(0, 0);
    for (std::size_t owner = 0; owner < records_.size(); ++owner) {
      const auto rows = DrawBatch(coins_.at(owner), plan_, records_.at(owner), static_cast<int>(owner));
      (void)PlaceRows(coins_.at(owner), rows,
                      ranks_ * of_ranks.at(owner));  // the next batch has the next coins
      sizes.push_back(rows.size());
      const auto words = EncodeRecords(plan_, records_.at(owner), rows, heights.at(owner));
      all.conservativeResize(all.rows() + words.rows(), words.cols());
      all.bottomRows(words.rows()) = words;
    }
    return all;
  }

  static RandomStream CoinsOf(int owner) {
    return RandomStream(FixedKey(static_cast<std::uint8_t>(90 + owner)));
  }

  std::vector<std::size_t> sizes{};  ///< of owners' parts of batches

 private:
  const StepPlan& plan_;
  const std::array<OwnRecords, net::kParties>& records_;
  const int ranks_;
  std::array<RandomStream, net::kParties> coins_{CoinsOf(0), CoinsOf(1), CoinsOf(2)};
};

/// Where a training is, all components added up.
struct Opened {
  mpc::RingMatrix weights{};
  mpc::RingMatrix velocity{};

  void Add(const TrainingState& state) {
    if (weights.size() == 0) {
      weights = mpc::RingMatrix::Zero(state.weights.rows(), state.weights.cols());
      velocity = weights;
    }
    weights += state.weights.ring().own();
    velocity += state.velocity.ring().own();
  }
};

/// Coins and noise are fixed, at a rate of 1/2, with batches that are cut and slots that go up unevenly: the
/// same rows, the same noise on each weight, and, with the squared loss and exact truncation, the same numbers.
void ExpectTheWeightsOfOneMachine(double momentum) {
  TrainingSettings settings = SmallSettings();
  settings.loss = Loss::kSquared;
  settings.truncation = protocols::Rounding::kExact;
  settings.learning_rate = 1;
  settings.momentum = momentum;
  settings.schedule.shape = RateShape::kLinear;  // which what is dealt ahead to each lane follows
  settings.steps = 4;
  settings.expected_batch = 60;
  settings.max_batch_per_owner = 21;
  constexpr double kSigma = 2;
  const StepPlan plan = MakeStepPlan(settings);
  EXPECT_TRUE(HasNarrowRows(plan));
  EXPECT_EQ(LiftsUpdate(plan), momentum > 0);
  const LayerShape shape = ShapeOfWeights(plan);
  const auto start = [&] {
    return StartFrom({mpc::ArithShare::Zero(shape.inputs, shape.outputs), settings.fraction_bits});
  };
  std::array<OwnRecords, net::kParties> records;
  for (std::size_t self = 0; self < records.size(); ++self)
    records.at(self) = MakeRecords(settings, 10 + self, 40);
  for (const int ranks : {2, 4}) {
    const LayerShape slice = SliceShape(plan, ranks);
    std::mutex mutex;
    Opened found;
    RunRanks(ranks, Seed{3}, [&](mpc::Context& party, mpc::Ranks& own_ranks) {
      const int self = party.self();
      NoiseSource noise(plan, kSigma, slice, RandomStream(KeyOfNoise(own_ranks.rank(), self)));
      const auto source = MakeRankSource(self, plan, records.at(static_cast<std::size_t>(self)), own_ranks,
                                         DrawnTogether::CoinsOf(self));
      RankSteps steps(plan, noise, own_ranks, start());
      source->Share(party);
      mpc::Preprocessing runs(party, {.runs = settings.steps, .ahead = settings.steps_ahead, .rotate = true});
      for (int step = 0; step < settings.steps; ++step) {
        steps.WaitForOthers();
        runs.Run([&](mpc::Context& run) { steps.Step(run, *source->Next(run, step, 0)); });
      }
      const TrainingState state = steps.Gathered();
      const std::lock_guard lock(mutex);
      if (own_ranks.rank() == 0) found.Add(state);
    });
    Opened expected;
    std::vector<std::size_t> sizes;
    RunRanks(1, Seed{5}, [&](mpc::Context& party, mpc::Ranks& /*alone*/) {
      DrawnTogether drawn(plan, records, ranks);
      std::vector<std::unique_ptr<NoiseSource>> noise;
      for (int rank = 0; rank < ranks; ++rank)
        noise.push_back(
            std::make_unique<NoiseSource>(plan, kSigma, slice, RandomStream(KeyOfNoise(rank, party.self()))));
      TrainingState state = start();
      for (int step = 0; step < settings.steps; ++step) {
        mpc::RingMatrix of_all(ranks * slice.inputs, 1);
        for (int rank = 0; rank < ranks; ++rank)
          of_all.middleRows(rank * slice.inputs, slice.inputs) =
              noise[static_cast<std::size_t>(rank)]->Next().values();
        mpc::RingMatrix values(shape.inputs, shape.outputs);
        std::copy_n(of_all.data(), values.size(), values.data());
        const Batch batch = ToBatch(plan, InsecureDeal(party, drawn.Next()));
        state =
            ApplyUpdate(party, plan, state, AddNoise(Gradient(party, plan, batch, state.weights), values));
      }
      const std::lock_guard lock(mutex);
      expected.Add(state);
      sizes = drawn.sizes;
    });
    EXPECT_TRUE((found.weights == expected.weights).all()) << ranks;
    EXPECT_TRUE((found.velocity == expected.velocity).all()) << ranks;
    EXPECT_EQ(std::count(sizes.begin(), sizes.end(), 0U), 0);
    const auto cut = std::count(sizes.begin(), sizes.end(), 21U);
    EXPECT_TRUE(0 < cut && cut < static_cast<long>(sizes.size())) << cut;
  }
}

TEST(RankSteps, GiveTheWeightsOfOneMachineBitForBitWithItsCoinsAndNoise) {
  ExpectTheWeightsOfOneMachine(0);
  ExpectTheWeightsOfOneMachine(0.5);
}

/// By a linear model or, with `classes` of its own, a network, whose slices cross its layers.
void ExpectTheDeclaredCost(std::optional<int> classes) {
  for (const int ranks : {2, 3}) {
    for (const auto form : {protocols::Form::kLatency, protocols::Form::kBulk}) {
      TrainingSettings settings = SmallSettings();
      settings.comparison = form;
      if (classes) {
        settings.hidden = {4};
        settings.classes = *classes;
      } else {
        settings.momentum = 0.5;
        settings.row_fraction_bits = 8;
        settings.error_fraction_bits = 10;
      }
      EXPECT_TRUE(HasNarrowRows(MakeStepPlan(settings)));
      // by all parties on the last lane, of trainings of three steps and of six
      std::array<std::uint64_t, 2> sent{};
      std::array<std::uint32_t, 2> rounds{};
      for (std::size_t k = 0; k < sent.size(); ++k) {
        settings.steps = k == 0 ? 3 : 6;
        std::mutex mutex;
        RunRanks(ranks, Seed{3}, [&](mpc::Context& party, mpc::Ranks& own_ranks) {
          if (own_ranks.rank() == 0) {
            (void)Train(party, settings, MakeRecords(settings, 3, 20), kQuiet, {}, {}, {}, {}, &own_ranks);
            return;
          }
          ServeSteps(party, settings, own_ranks);
          if (own_ranks.rank() + 1 < ranks) return;
          const std::lock_guard lock(mutex);
          const auto& counters = party.transport().counters();
          sent.at(k) += counters.bytes_sent + counters.bytes_offline;
          rounds.at(k) = std::max(rounds.at(k), counters.rounds);
        });
      }
      const mpc::Cost step = PlannedStepCost(settings, form, ranks);
      EXPECT_EQ(sent[1] - sent[0], 3 * step.bytes_of_all());
      EXPECT_EQ(sent[0], 3 * step.bytes_of_all() + protocols::RequireSameEverywhereCost().bytes_of_all());
      EXPECT_LT(step.bytes_of_all(),
                PlannedStepCost(settings, form).bytes_of_all() / static_cast<unsigned>(ranks) * 12 / 10);
      mpc::Cost chain = protocols::RequireSameEverywhereCost();
      for (int k = 0; k < settings.steps; ++k) chain = Then(chain, step);
      EXPECT_EQ(rounds[1], static_cast<std::uint32_t>(chain.rounds()));
    }
  }
}

TEST(RankStepCost, IsWhatEachLaneSendsInAStep) {
  ExpectTheDeclaredCost({});
  for (const int classes : {2, 3}) ExpectTheDeclaredCost(classes);
}

}  // namespace
}  // namespace trefoil::ml
