#include "ml/dpsgd/adaptive_clip.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <tuple>
#include <vector>

#include "ml/plan/step_privacy.h"
#include "protocols/arithmetic/multiply.h"
#include "tests/reference/plain_integer_step.h"
#include "tests/support/ml_test.h"

namespace trefoil::ml {
namespace {

using mpc::Index;
using mpc::RingMatrix;
using mpc::Word;
using protocols::Form;
using protocols::Rounding;
using namespace testing_support;  // NOLINT(google-build-using-namespace): test helpers only

constexpr Index kRows = 40;
constexpr int kSteps = 8;

TrainingSettings SmallSettingsOf(Sampling sampling) {
  TrainingSettings settings = SmallSettings();
  settings.sampling = sampling;
  if (sampling == Sampling::kFull) settings.expected_batch = 120;
  return settings;
}

/// Of narrow rows, or of the same in words.
StepPlan PlanOf(const TrainingSettings& settings, bool in_words, Form form = Form::kBulk) {
  const StepPlan plan = MakeStepPlan(settings, form);
  EXPECT_TRUE(HasNarrowRows(plan));
  return in_words ? WithWholeRows(plan) : plan;
}

/// Of exact truncation and the squared loss, so that a step is plain integer arithmetic.
TrainingSettings ExactSettings(Sampling sampling, int classes) {
  TrainingSettings settings = SmallSettingsOf(sampling);
  settings.classes = classes;
  settings.loss = Loss::kSquared;
  settings.logit_bound = 4;
  settings.truncation = Rounding::kExact;
  settings.momentum = 0.5;
  settings.schedule.shape = RateShape::kLinear;
  settings.clip = 0.5;
  settings.adaptive = AdaptiveClip{.quantile = 0.3};
  return settings;
}

/// Of party `self` in a step; all different.
RingMatrix GradientNoise(const StepPlan& plan, int self, int step) {
  return RandomSigned(static_cast<std::uint64_t>(40 + 3 * step + self), plan.settings.features + 1,
                      plan.columns, plan.gradient_bits + 1);
}

RingMatrix CountNoiseOf(int self, int step) {
  return RandomSigned(static_cast<std::uint64_t>(400 + 3 * step + self), 1, 1, 18);
}

class AdaptiveStepTest : public testing::TestWithParam<std::tuple<bool, Form>> {
 protected:
  [[nodiscard]] static bool in_words() { return std::get<0>(GetParam()); }
  [[nodiscard]] static Form form() { return std::get<1>(GetParam()); }
};

// Weights and every clip, given the same noise, bit for bit.
TEST_P(AdaptiveStepTest, IsPlainIntegerArithmeticOverManySteps) {
  for (const int classes : {2, 3}) {
    const StepPlan plan = PlanOf(ExactSettings(Sampling::kOwnerPoisson, classes), in_words(), form());
    const OwnRecords records = MakeRecords(plan.settings, 8, kRows - 4);
    std::array<std::vector<int>, 3> clips;
    std::array<std::vector<double>, 3> counts;
    const Outcome outcome = RunOn(
        Seed{8},
        [&](mpc::Context& party) {
          return std::pair{DealStepBatch(party, plan, records, kRows), DealStart(party, plan, NoNoise(plan))};
        },
        [&](mpc::Context& party, const auto& in) {
          TrainingState state = in.second;
          state.clip_at = 0;
          for (int step = 0; step < kSteps; ++step) {
            const RingMatrix gradient = GradientNoise(plan, party.self(), step);
            const RingMatrix within = CountNoiseOf(party.self(), step);
            const auto done =
                AdaptiveStep(party, plan, in.first, state, {.gradient = gradient, .within = within});
            state = done.state;
            const auto self = static_cast<std::size_t>(party.self());
            clips.at(self).push_back(*state.clip_at);
            counts.at(self).push_back(done.within);
          }
          return state.weights.ring();
        });
    const reference::PlainIntegerStep plain(plan, EncodeRecords(plan, records, AllRows(records), kRows));
    RingMatrix weights = NoNoise(plan);
    RingMatrix velocity = weights;
    std::vector<int> plain_clips;
    std::vector<double> plain_counts;
    int at = 0;
    for (int step = 0; step < kSteps; ++step) {
      const RingMatrix errors = plain.Scaled(plain.Errors(weights), at);
      RingMatrix noise = NoNoise(plan);
      Word within = plain.Within(errors);
      for (int party = 0; party < 3; ++party) {
        noise += GradientNoise(plan, party, step);
        within += CountNoiseOf(party, step)(0, 0);
      }
      velocity = plain.Velocity(velocity, errors, noise, step, at);
      weights -= velocity;
      at = NextClip(plan.settings, plan.grid, at, within, RowFractionBits(plan.settings));
      plain_clips.push_back(at);
      plain_counts.push_back(
          std::ldexp(static_cast<double>(mpc::Signed(within)), -RowFractionBits(plan.settings)));
    }
    EXPECT_TRUE((outcome.value == weights).all());
    for (const auto& seen : clips) EXPECT_EQ(seen, plain_clips);
    for (const auto& seen : counts) EXPECT_EQ(seen, plain_counts);
    EXPECT_NE(plain_clips.front(), plain_clips.back());
  }
}

TEST_P(AdaptiveStepTest, CostsWhatItDeclares) {
  for (const auto rounding : {Rounding::kStochastic, Rounding::kExact}) {
    TrainingSettings settings = SmallSettings();
    settings.momentum = 0.5;
    settings.truncation = rounding;
    settings.adaptive.emplace();
    const StepPlan plan = PlanOf(settings, in_words(), form());
    const OwnRecords records = MakeRecords(settings, 1, 20);
    const RingMatrix none = RingMatrix::Zero(1, 1);
    const Outcome outcome = RunOn(
        Seed{1},
        [&](mpc::Context& party) {
          TrainingState state = DealStart(party, plan, NoNoise(plan));
          state.clip_at = 10;
          return std::pair{DealStepBatch(party, plan, records, 24), state};
        },
        [&](mpc::Context& party, const auto& in) {
          return AdaptiveStep(party, plan, in.first, in.second, {.gradient = NoNoise(plan), .within = none})
              .state.weights.ring();
        });
    EXPECT_EQ(outcome.cost, Figures(DpSgdStepCost(plan, 24)));
  }
}

INSTANTIATE_TEST_SUITE_P(Forms, AdaptiveStepTest,
                         testing::Combine(testing::Bool(), testing::Values(Form::kBulk, Form::kLatency)));

// A batch of padding alone counts nothing, wherever the clip is: what opens is noise.
TEST(AdaptiveGradient, CountsNothingOfPadding) {
  for (const bool in_words : {false, true}) {
    TrainingSettings settings = SmallSettings();
    settings.adaptive.emplace();
    const StepPlan plan = PlanOf(settings, in_words);
    const OwnRecords none = MakeRecords(settings, 1, 0);
    const RingMatrix weights = RandomSigned(2, settings.features + 1, plan.columns, 17);
    const Outcome outcome = RunOn(
        Seed{2},
        [&](mpc::Context& party) {
          return std::pair{DealStepBatch(party, plan, none, 16), DealStart(party, plan, weights)};
        },
        [&](mpc::Context& party, const auto& in) {
          const auto sums = AdaptiveGradient(party, plan, in.first, in.second.weights, -kClipReach);
          return protocols::Reshare(
              party, mpc::AdditiveShare(mpc::Stacked(
                         mpc::Reshaped(sums.gradient.part(), NoNoise(plan).size(), 1), sums.within.part())));
        });
    EXPECT_TRUE((Reduced(outcome.value, plan.row_bits) == 0).all());
  }
}

// What is above the bits of rows is of shares, and is not to be opened.
TEST(CountToOpen, LeavesNothingOfWhatIsAboveTheBitsOfRows) {
  TrainingSettings settings = SmallSettings();
  settings.adaptive.emplace();
  const StepPlan plan = MakeStepPlan(settings);
  ASSERT_EQ(plan.row_bits, 40);
  const Word part = 0x1234'56ff'ffff'fff9;
  const mpc::AdditiveShare noisy(RingMatrix::Constant(1, 1, part));
  EXPECT_EQ(CountToOpen(plan, noisy).part()(0, 0), part << 24);
  EXPECT_EQ(CountToOpen(WithWholeRows(plan), noisy).part()(0, 0), part);
}

TEST(ClipCountNoise, HasTheVarianceThatIsChargedAndNoneWithoutNoise) {
  TrainingSettings settings = SmallSettings();
  settings.adaptive = AdaptiveClip{.count_sigma = 3};
  const StepPlan plan = MakeStepPlan(settings);
  RandomStream stream(FixedKey(1));
  constexpr int kDraws = 4000;
  double squares = 0;
  for (int k = 0; k < kDraws; ++k) {
    const auto noise = static_cast<double>(mpc::Signed(ClipCountNoise(plan, 1, stream).values()(0, 0)));
    squares += noise * noise;
  }
  // Of one party: (2 * 3)^2 / 2 in units of 2^-16; four deviations of a mean of so many squares.
  EXPECT_NEAR(squares / kDraws / std::ldexp(1.0, 32), 18, 18 * 4 * std::sqrt(2.0 / kDraws));
  EXPECT_EQ(ClipCountNoise(plan, 0, stream).values()(0, 0), 0U);
}

TrainingSettings TrainedSettings() {
  TrainingSettings settings = SmallSettings();
  settings.steps = 60;
  settings.sigma = 0.5;
  settings.learning_rate = 4;
  settings.adaptive = AdaptiveClip{.quantile = 0.5, .count_sigma = 2};
  return settings;
}

std::array<TrainingResult, 3> TrainAdaptively(const TrainingSettings& settings) {
  return RunParties(Seed{1}, [&](mpc::Context& party) {
    return Train(party, settings, MakeRecords(settings, 10 + static_cast<std::uint64_t>(party.self()), 40),
                 kQuiet);
  });
}

// From far above and far below to about the same.
TEST(Train, MovesAnAdaptiveClipTowardsTheQuantile) {
  for (const auto sampling : {Sampling::kOwnerPoisson, Sampling::kFull}) {
    std::vector<double> ends;
    for (const double first : {2.0, 0.2}) {
      TrainingSettings settings = TrainedSettings();
      settings.sampling = sampling;
      if (sampling == Sampling::kFull) settings.expected_batch = 120;
      settings.clip = first;
      const auto results = TrainAdaptively(settings);
      for (const auto& result : results) {
        EXPECT_EQ(result.last_clip, results[0].last_clip);
        EXPECT_EQ(result.model->weights, results[0].model->weights);
      }
      ends.push_back(results[0].last_clip.value());
    }
    EXPECT_LT(ends[0], 1.6);
    EXPECT_GT(ends[1], 0.25);
    EXPECT_LT(std::max(ends[0], ends[1]) / std::min(ends[0], ends[1]), 2);
  }
  EXPECT_FALSE(TrainAdaptively(SmallSettings())[0].last_clip);
}

/// All rows in each step and no noise: weights and clip are those of plain integers, bit for bit.
TEST(Train, OnAnAdaptiveClipOfRowsThatAreSharedOnceIsPlainIntegerArithmetic) {
  for (const int classes : {2, 3}) {
    TrainingSettings settings = ExactSettings(Sampling::kFull, classes);
    settings.steps = kSteps;
    const StepPlan plan = MakeStepPlan(settings);
    EXPECT_TRUE(HasNarrowRows(plan));
    const auto results = TrainAdaptively(settings);
    std::array<RingMatrix, 3> owned;
    for (std::size_t owner = 0; owner < owned.size(); ++owner) {
      const OwnRecords records = MakeRecords(settings, 10 + owner, 40);
      owned.at(owner) = EncodeRecords(plan, records, AllRows(records), 40);
    }
    const reference::PlainIntegerStep plain(plan, mpc::Stacked(mpc::Stacked(owned[0], owned[1]), owned[2]));
    RingMatrix weights = NoNoise(plan);
    RingMatrix velocity = weights;
    int at = 0;
    for (int step = 0; step < kSteps; ++step) {
      const RingMatrix errors = plain.Scaled(plain.Errors(weights), at);
      velocity = plain.Velocity(velocity, errors, NoNoise(plan), step, at);
      weights -= velocity;
      at = NextClip(settings, plan.grid, at, plain.Within(errors), RowFractionBits(settings));
    }
    EXPECT_NE(at, 0);
    const Eigen::MatrixXd all = mpc::Decode(weights, settings.fraction_bits);
    for (const auto& result : results) {
      EXPECT_EQ(result.last_clip, ClipAt(settings, plan.grid, at));
      EXPECT_EQ(result.model->weights, all.topRows(settings.features));
      EXPECT_EQ(result.model->bias, all.bottomRows(1).transpose());
    }
  }
}

TEST(Train, RecordsAnAdaptiveClipAndMeetsTheTarget) {
  TrainingSettings settings = TrainedSettings();
  settings.steps = 5;
  settings.sigma.reset();
  settings.target_epsilon = 6;
  const auto result = TrainAdaptively(settings)[0];
  const auto event = std::get<dp::DpSgdSteps>(result.record.events.at(0));
  EXPECT_EQ(event.clip_count_sigma, 2);
  EXPECT_LE(result.plan.epsilon_insider, 6);
  EXPECT_GT(result.plan.epsilon_insider, 5.9);
}

// Of no records at all: what opens is three parties' noise, and each step's move of the clip says how much.
TEST(Train, OpensCountsWithTheNoiseOfAllThreeParties) {
  constexpr double kMove = 2;  // deviation that the noise is to give a step's move, in points of the grid
  TrainingSettings settings = TrainedSettings();
  settings.steps = 500;
  settings.learning_rate = 0.01;
  const double points_per_row = 0.2 * kClipPoints / std::log(2.0) / (2 * settings.expected_batch);
  settings.adaptive->count_sigma = kMove / points_per_row / std::sqrt(6.0);  // 3 (2 sigma_b)^2 / 2
  const auto all = RunParties(Seed{5}, [&](mpc::Context& party) {
    std::vector<int> clips;
    TrainingHooks hooks = kQuiet;
    hooks.checkpoint_every = 1;
    hooks.on_checkpoint = [&](const Checkpoint& checkpoint) {
      clips.push_back(checkpoint.state.clip_at.value());
    };
    (void)Train(party, settings, MakeRecords(settings, 1, 0), hooks);
    return clips;
  });
  EXPECT_EQ(all[0], all[1]);
  EXPECT_EQ(all[0], all[2]);
  ASSERT_EQ(all[0].size(), 501U);
  double squares = 0;
  int moves = 0;
  for (std::size_t step = 0; step + 1 < all[0].size(); ++step) {
    if (std::abs(all[0][step]) > kClipReach - 5 * kMove) continue;  // it may have been held back
    squares += std::pow(all[0][step + 1] - all[0][step], 2);
    ++moves;
  }
  ASSERT_GT(moves, 250);
  const double expected = kMove * kMove + 1 / 12.0;  // and what rounding to points adds
  EXPECT_NEAR(squares / moves, expected, expected * 5 * std::sqrt(2.0 / moves));
}

TEST(Train, ReportsTheClipThatEachStepLeaves) {
  const TrainingSettings settings = TrainedSettings();
  const auto seen = RunParties(Seed{4}, [&](mpc::Context& party) {
    std::vector<StepReport> reports;
    const auto trained = Train(party, settings, MakeRecords(settings, 4, 20),
                               {.on_step = [&](const StepReport& report) { reports.push_back(report); },
                                .on_record = [](const dp::TrainingRecord&) {}});
    EXPECT_FALSE(reports.at(0).clip);  // before the first step
    EXPECT_EQ(reports.back().clip.value().next, trained.last_clip.value());
    reports.erase(reports.begin());
    return reports;
  });
  const ClipGrid grid = MakeClipGrid(settings);
  int at = 0;
  for (std::size_t step = 0; step < seen[0].size(); ++step) {
    const ClipReport clip = seen[0][step].clip.value();
    const int bits = RowFractionBits(settings);
    at = NextClip(settings, grid, at, static_cast<Word>(std::llround(std::ldexp(clip.within, bits))), bits);
    EXPECT_EQ(clip.next, ClipAt(settings, grid, at));
    for (const auto& party : seen) EXPECT_EQ(party[step].clip.value().within, clip.within);
  }
}

TEST(PlannedStepCost, IsWhatAStepOnAnAdaptiveClipSends) {
  for (const auto form : {Form::kLatency, Form::kBulk}) {
    TrainingSettings settings = TrainedSettings();
    settings.comparison = form;
    settings.steps = 3;
    const auto sent = RunParties(Seed{3}, [&](mpc::Context& party) {
      std::vector<std::uint64_t> bytes;
      (void)Train(party, settings, MakeRecords(settings, 3, 20),
                  {.on_step = [&](const StepReport& report) { bytes.push_back(report.bytes_sent); },
                   .on_record = [](const dp::TrainingRecord&) {}});
      return bytes.at(2) - bytes.at(1);
    });
    EXPECT_EQ(sent[0] + sent[1] + sent[2], PlannedStepCost(settings, form).bytes_of_all());
  }
}

}  // namespace
}  // namespace trefoil::ml
