#include "ml/noise/class_balance.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "base/error.h"
#include "ml/plan/step_privacy.h"
#include "tests/support/ml_test.h"

namespace trefoil::ml {
namespace {

using mpc::Word;
using testing::HasSubstr;
using namespace testing_support;  // NOLINT(google-build-using-namespace): test helpers only

constexpr Word kOne = Word{1} << 16;

TrainingSettings BalancedSettings(double sigma) {
  TrainingSettings settings = SmallSettings();
  settings.balance_sigma = sigma;
  return settings;
}

TEST(BalancedWeights, AreTheSmallestCountOverEachClassesCount) {
  const StepPlan plan = MakeStepPlan(BalancedSettings(1));
  ASSERT_EQ(plan.class_weights.frac_bits, 16);
  const auto of = [&](const std::vector<std::int64_t>& counts) {
    return BalancedWeights(plan, counts).of_class;
  };
  EXPECT_EQ(of({900, 100, 300}), (std::vector<Word>{(kOne + 4) / 9, kOne, (kOne + 1) / 3}));
  EXPECT_EQ(of({70, 70, 70}), (std::vector<Word>{kOne, kOne, kOne}));
  // Four deviations are 4: what is below counts as that.
  EXPECT_EQ(of({3, 4, 8}), (std::vector<Word>{kOne, kOne, kOne / 2}));
  EXPECT_EQ(of({-1000, 16, 4}), (std::vector<Word>{kOne, kOne / 4, kOne}));
  EXPECT_EQ(of({5, 1'000'000, 5}), (std::vector<Word>{kOne, kOne >> 8, kOne}));
  EXPECT_EQ(WeightsOf({.frac_bits = 16, .of_class = of({900, 100, 300})})[1], 1.0);
  EXPECT_THROW((void)of({1, 2}), ContractError);
}

// What the certificate rests on: no weight is above 1, whatever was counted and whatever the noise was.
TEST(BalancedWeights, LieFrom2ToTheMinus8To1AndTheLargestIs1ForAnyCounts) {
  std::mt19937_64 random(1);
  constexpr auto kLimits = std::numeric_limits<std::int64_t>();
  for (const int f : {8, 16, 24}) {
    for (const std::int64_t rows : {1, 50}) {
      TrainingSettings settings = BalancedSettings(0.3 * f);
      settings.fraction_bits = f;
      settings.groups = rows > 1;
      settings.group_rows = rows;
      const StepPlan plan = MakeStepPlan(settings);
      const Word one = Word{1} << plan.class_weights.frac_bits;
      for (int k = 0; k < 2000; ++k) {
        std::vector<std::int64_t> counts;
        for (int c = 0; c < 3; ++c) counts.push_back(static_cast<std::int64_t>(random()) >> (random() % 64));
        if (k == 0) counts = {kLimits.min(), kLimits.max(), 0};
        if (k == 1) counts = {kLimits.max(), kLimits.max(), kLimits.max()};
        const auto weights = BalancedWeights(plan, counts).of_class;
        ASSERT_EQ(*std::max_element(weights.begin(), weights.end()), one);
        ASSERT_GE(*std::min_element(weights.begin(), weights.end()), one >> 8);
      }
    }
  }
}

// The plan depends on the largest weight alone, so that the noise is fixed before the weights are known.
TEST(MakeStepPlan, PlansForBalancedWeightsAsForWeightsOf1AndLess) {
  for (const Clipping clipping : {Clipping::kFactorised, Clipping::kPublished, Clipping::kExamples}) {
    TrainingSettings settings = BalancedSettings(7);
    settings.clipping = clipping;
    const StepPlan balanced = MakeStepPlan(settings);
    settings.balance_sigma.reset();
    for (const std::vector<double>& weights : {std::vector<double>{1, 1, 1}, {0.25, 1, 0.0625}}) {
      settings.class_weights = weights;
      const StepPlan named = MakeStepPlan(settings);
      EXPECT_EQ(balanced.lattice_sensitivity, named.lattice_sensitivity);
      EXPECT_EQ(balanced.example.error_norm, named.example.error_norm);
      EXPECT_EQ(balanced.row_norm_bits, named.row_norm_bits);
      EXPECT_EQ(balanced.clip.pieces.thresholds, named.clip.pieces.thresholds);
      EXPECT_EQ(balanced.clip.pieces.coefficients, named.clip.pieces.coefficients);
      EXPECT_EQ(balanced.step_size.mantissa, named.step_size.mantissa);
      EXPECT_EQ(balanced.class_weights.frac_bits, named.class_weights.frac_bits);
      EXPECT_NE(Fingerprint(balanced, 1), Fingerprint(named, 1));
    }
  }
}

TEST(MakeStepPlan, RefusesWhatCannotBeBalanced) {
  const auto refused = [](auto change) {
    TrainingSettings settings = BalancedSettings(7);
    change(settings);
    EXPECT_THROW((void)MakeStepPlan(settings), ConfigError);
  };
  refused([](TrainingSettings& s) { s.balance_sigma = 0; });
  refused([](TrainingSettings& s) { s.balance_sigma = std::nan(""); });
  refused([](TrainingSettings& s) { s.balance_sigma = 1e6 + 1; });
  refused([](TrainingSettings& s) { s.class_weights = {1, 1, 1}; });
  refused([](TrainingSettings& s) {
    s = SmallHuberSettings(1);
    s.balance_sigma = 1;
  });
}

TEST(OpenClassCounts, CountsAllRecordsOfAllPartiesAndCostsWhatItDeclares) {
  const StepPlan plan = MakeStepPlan(BalancedSettings(0.01));
  const auto parts = RunParties(Seed{1}, [&](mpc::Context& party) {
    OwnRecords own = MakeRecords(plan.settings, 3, 20);
    own.y.assign(20, 2);
    for (int k = 0; k <= party.self(); ++k) own.y[static_cast<std::size_t>(k)] = 0;
    MeasuredPart<std::vector<std::int64_t>> part;
    part.measured = protocols::Measure(party, [&] { part.value = OpenClassCounts(party, plan, own); });
    return part;
  });
  // The sum of all noise has deviation 0.012: half a record is 40 of them.
  for (const auto& part : parts) EXPECT_THAT(part.value, testing::ElementsAre(6, 0, 54));
  EXPECT_EQ(Figures(parts), Figures(OpenClassCountsCost(plan)));
}

// The mean square of 2,000 numbers has a deviation of sqrt(2/2000) = 3.2 % of its mean; 20 % are 6.3
// deviations, beyond which it is in fewer than one of 10^9 runs. Without one party's noise the mean square
// would be a third lower.
TEST(OpenClassCounts, AddsTheNoiseOfAllThreePartiesForAGroup) {
  TrainingSettings settings = BalancedSettings(20);
  settings.classes = 2000;
  settings.groups = true;
  settings.group_rows = 3;
  const StepPlan plan = MakeStepPlan(settings);
  const auto counts =
      RunParties(Seed{2}, [&](mpc::Context& party) { return OpenClassCounts(party, plan, OwnRecords{}); });
  EXPECT_EQ(counts[0], counts[1]);
  EXPECT_EQ(counts[0], counts[2]);
  double squares = 0;
  for (const std::int64_t count : counts[0])
    squares += static_cast<double>(count) * static_cast<double>(count);
  EXPECT_NEAR(squares / 2000 / (1.5 * 60 * 60), 1, 0.2);
}

TEST(OpenClassCounts, RefusesAnotherClassBeforeAnythingIsSent) {
  const StepPlan plan = MakeStepPlan(BalancedSettings(1));
  for (const int label : {-1, 3}) {
    EXPECT_THROW(RunParties(Seed{1},
                            [&](mpc::Context& party) {
                              OwnRecords own = MakeRecords(plan.settings, 3, 5);
                              own.y[4] = label;
                              return OpenClassCounts(party, plan, own);
                            }),
                 DataError);
  }
}

TEST(ClassCountEvents, ChargeOneGaussianReleaseOfEveryRecordOrGroup) {
  EXPECT_TRUE(ClassCountEvents(MakeStepPlan(SmallSettings())).empty());
  TrainingSettings settings = BalancedSettings(5);
  const auto event_of = [&] {
    return std::get<dp::GaussianReleases>(ClassCountEvents(MakeStepPlan(settings)).at(0));
  };
  const auto of_record = event_of();
  EXPECT_EQ(of_record.count, 1);
  EXPECT_EQ(of_record.coordinates, 3);
  EXPECT_EQ(of_record.sigma, 5);
  // 5 over the root of 2, in units of 2^-16, rounded down.
  EXPECT_EQ(of_record.party_deviation, std::floor(5 / std::sqrt(2.0) * 65536));
  settings.groups = true;
  settings.group_rows = 10;
  EXPECT_EQ(event_of().sigma, 5);
  EXPECT_NEAR(event_of().party_deviation, 10 * of_record.party_deviation, 10);
}

TEST(MakePlan, LeavesTheStepsWhatTheCountsDoNotTake) {
  TrainingSettings settings = SmallSettings();
  settings.sigma.reset();
  settings.target_epsilon = 3;
  const PrivacyPlan without = MakePlan(settings);
  settings.balance_sigma = 5;
  const PrivacyPlan with = MakePlan(settings);
  ASSERT_EQ(with.events.size(), 2U);
  EXPECT_TRUE(std::holds_alternative<dp::GaussianReleases>(with.events[0]));
  EXPECT_GT(with.sigma, 1.01 * without.sigma);
  EXPECT_LE(with.epsilon_insider, 3);
  EXPECT_GT(with.epsilon_insider, 2.9);
  const dp::TrainingRecord record{.job_hash = {}, .run_id = {}, .events = with.events};
  EXPECT_EQ(dp::Epsilons(record, settings.delta).outsider, with.epsilon_outsider);
  settings.balance_sigma = 0.5;
  try {
    (void)MakePlan(settings);
    ADD_FAILURE();
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("which model.class_counts_sigma and all else"));
  }
}

/// All rows in every step without noise and in exact arithmetic: the same model whatever the masks are.
TrainingSettings ExactSettings() {
  TrainingSettings settings = SmallSettings();
  settings.sampling = Sampling::kPublic;
  settings.expected_batch = 120;
  settings.truncation = protocols::Rounding::kExact;
  settings.loss = Loss::kSquared;
  settings.logit_bound = 4;
  settings.learning_rate = 1;
  return settings;
}

TrainingResult TrainUneven(const TrainingSettings& settings) {
  auto results = RunParties(Seed{3}, [&](mpc::Context& party) {
    OwnRecords own = MakeRecords(settings, 10 + static_cast<std::uint64_t>(party.self()), 40);
    for (std::size_t k = 0; k < own.y.size(); ++k) own.y[k] = k < 26 ? 0 : (k < 36 ? 1 : 2);
    return Train(party, settings, own, kQuiet);
  });
  EXPECT_EQ(results[0].model->weights, results[1].model->weights);
  EXPECT_EQ(results[0].model->weights, results[2].model->weights);
  return std::move(results[0]);
}

// Also where the owners' models are trained first, by the same weights; their mean is rounded at random,
// hence the tolerance.
TEST(Train, WithBalancedClassesIsThatWithTheWeightsThatFollow) {
  for (const bool local : {false, true}) {
    TrainingSettings settings = ExactSettings();
    if (local)
      settings.initialisation = InitialisationSettings{
          .local = {
              .steps = 5, .expected_batch = 40, .learning_rate = 1, .clip = 2, .sigma = 0.0, .delta = 1e-5}};
    const auto even = TrainUneven(settings);
    EXPECT_TRUE(even.class_counts.empty());
    settings.balance_sigma = 0.01;  // so little noise that all counts are exact
    const auto balanced = TrainUneven(settings);
    EXPECT_THAT(balanced.class_counts, testing::ElementsAre(78, 30, 12));
    EXPECT_THAT(balanced.class_weights, testing::ElementsAre(testing::DoubleNear(12.0 / 78, 1e-5),
                                                             testing::DoubleNear(0.4, 1e-5), 1.0));
    EXPECT_EQ(balanced.record.events.size(), even.record.events.size() + 1);
    settings.balance_sigma.reset();
    settings.class_weights = balanced.class_weights;
    const auto named = TrainUneven(settings);
    const double tolerance = local ? 0.001 : 0;
    EXPECT_LE((named.model->weights - balanced.model->weights).cwiseAbs().maxCoeff(), tolerance);
    EXPECT_LE((named.model->bias - balanced.model->bias).cwiseAbs().maxCoeff(), tolerance);
    EXPECT_EQ(named.plan.sensitivity, balanced.plan.sensitivity);
    EXPECT_GT((even.model->weights - balanced.model->weights).cwiseAbs().maxCoeff(), 0.01);
  }
}

}  // namespace
}  // namespace trefoil::ml
