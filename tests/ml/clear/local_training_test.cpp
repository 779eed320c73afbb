#include "ml/clear/local_training.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "dp/accounting/any_accountant.h"
#include "tests/reference/plain_dp_sgd.h"
#include "tests/support/fixed_key.h"
#include "tests/support/ml_test.h"

namespace trefoil::ml {
namespace {

using namespace testing_support;  // NOLINT(google-build-using-namespace): test helpers only

LocalSettings SmallLocal() {
  return {.steps = 20, .expected_batch = 40, .learning_rate = 4, .clip = 0.5, .sigma = 0.0, .delta = 1e-5};
}

LocalCoins FixedCoins(std::uint8_t seed) {
  return {.rows = RandomStream(FixedKey(seed)),
          .noise = RandomStream(FixedKey(static_cast<std::uint8_t>(seed + 1)))};
}

/// Weights of a training by the reference, on all rows in every step.
Eigen::MatrixXd Reference(const TrainingSettings& settings, const LocalSettings& local,
                          const OwnRecords& own) {
  const Eigen::MatrixXd targets = Targets(settings, own.y);
  reference::PlainDpSgd plain{.weights = Eigen::MatrixXd::Zero(settings.features + 1, targets.cols()),
                              .clip = local.clip,
                              .learning_rate = local.learning_rate,
                              .expected_batch = local.expected_batch,
                              .softmax = settings.loss == Loss::kSoftmax && settings.classes > 2,
                              .squared = settings.loss == Loss::kSquared || settings.loss == Loss::kHuber,
                              .poisson = settings.loss == Loss::kPoisson,
                              .huber = settings.huber_threshold,
                              .class_weights = settings.class_weights,
                              .record_weights = own.weights};
  for (int step = 0; step < local.steps; ++step) {
    plain.Step(ScaledRows(settings, own), targets,
               Eigen::MatrixXd::Zero(plain.weights.rows(), plain.weights.cols()));
  }
  return plain.weights;
}

TEST(TrainLocally, AgreesWithThePlainStepWithoutNoise) {
  for (const auto& [loss, classes] : {std::pair{Loss::kOneVsRest, 2},
                                      {Loss::kOneVsRest, 3},
                                      {Loss::kSoftmax, 2},
                                      {Loss::kSoftmax, 3},
                                      {Loss::kSquared, 2},
                                      {Loss::kSquared, 3}}) {
    TrainingSettings settings = SmallSettings();
    settings.loss = loss;
    settings.classes = classes;
    const OwnRecords own = MakeRecords(settings, 5, 40);  // all rows: the rate is 3 * 40 / 120 = 1
    ThreadPool pool(2);
    LocalSettings local = SmallLocal();
    if (loss == Loss::kSquared) local.learning_rate = 1;  // whose slopes do not level off
    for (const bool weighted : {false, true}) {
      if (weighted)
        settings.class_weights = classes == 2 ? std::vector{0.3, 1.2} : std::vector{0.3, 1.2, 1.0};
      const LocalPlan plan = MakeLocalPlan(settings, local);
      const Eigen::MatrixXd weights = TrainLocally(plan, 1, own, pool, FixedCoins(1));
      // Each step truncates 40 rows, their errors and the weights by a unit of 2^-16 at most, times 4 / 40.
      const double tolerance = 20 * 4 * 4 * std::ldexp(1.0, -16);
      EXPECT_LE((weights - Reference(settings, local, own)).cwiseAbs().maxCoeff(), tolerance);
      EXPECT_GT(weights.cwiseAbs().maxCoeff(), weighted ? 0.1 : 0.3);
    }
  }
}

TEST(TrainLocally, AgreesWithThePlainStepWithRecordsOwnWeights) {
  TrainingSettings settings = SmallSettings();
  settings.max_record_weight = 1.5;
  const OwnRecords own = MakeRecords(settings, 5, 40);
  ThreadPool pool(2);
  const LocalPlan plan = MakeLocalPlan(settings, SmallLocal());
  const Eigen::MatrixXd weights = TrainLocally(plan, 1, own, pool, FixedCoins(1));
  const double tolerance = 20 * 4 * 4 * std::ldexp(1.0, -16);  // as above
  EXPECT_LE((weights - Reference(settings, SmallLocal(), own)).cwiseAbs().maxCoeff(), tolerance);
  OwnRecords plain = own;
  plain.weights.clear();
  EXPECT_GT((weights - Reference(settings, SmallLocal(), plain)).cwiseAbs().maxCoeff(), 2 * tolerance);
}

TEST(TrainLocally, AgreesWithThePlainStepForHubersLoss) {
  const TrainingSettings settings = SmallHuberSettings(0.2);
  const OwnRecords own = MakeRecords(settings, 5, 40);
  ThreadPool pool(2);
  LocalSettings local = SmallLocal();
  local.learning_rate = 1;
  const LocalPlan plan = MakeLocalPlan(settings, local);
  const Eigen::MatrixXd weights = TrainLocally(plan, 1, own, pool, FixedCoins(1));
  const double tolerance = 20 * 4 * 4 * std::ldexp(1.0, -16);  // as above
  EXPECT_LE((weights - Reference(settings, local, own)).cwiseAbs().maxCoeff(), tolerance);
  TrainingSettings squared = settings;
  squared.loss = Loss::kSquared;
  squared.huber_threshold = 0;
  EXPECT_GT((weights - Reference(squared, local, own)).cwiseAbs().maxCoeff(), 2 * tolerance);
}

TEST(TrainLocally, AgreesWithThePlainStepForPoissonsLoss) {
  const TrainingSettings settings = SmallPoissonSettings();
  const OwnRecords own = MakeRecords(settings, 5, 40);
  ThreadPool pool(2);
  const LocalPlan plan = MakeLocalPlan(settings, SmallLocal());
  const Eigen::MatrixXd weights = TrainLocally(plan, 1, own, pool, FixedCoins(1));
  const double tolerance = 20 * 4 * 4 * std::ldexp(1.0, -16);  // as above
  EXPECT_LE((weights - Reference(settings, SmallLocal(), own)).cwiseAbs().maxCoeff(), tolerance);
  EXPECT_GT(weights.cwiseAbs().maxCoeff(), 0.3);
}

// One record moves the sum by its own clipped gradient, exactly: whatever the others, their order, the tasks.
TEST(SumClippedGradients, ChangesByOneRecordsGradientExactly) {
  TrainingSettings settings = SmallSettings();
  settings.rows = {400, 400, 400};
  const OwnRecords own = MakeRecords(settings, 6, 301);
  const LocalPlan plan = MakeLocalPlan(settings, SmallLocal());
  ThreadPool pool(3);
  const Eigen::MatrixXd weights = TrainLocally(plan, 0, own, pool, FixedCoins(2));
  const auto sum = [&](const std::vector<std::int64_t>& rows) {
    return SumClippedGradients(plan, weights, own, rows, pool);
  };
  auto rows = AllRows(own);
  const Eigen::MatrixXd all = sum(rows);
  std::reverse(rows.begin(), rows.end());
  EXPECT_EQ(all, sum(rows));
  for (const std::int64_t removed : {0, 7, 150, 300}) {
    auto others = AllRows(own);
    others.erase(others.begin() + removed);
    const Eigen::MatrixXd alone = sum({removed});
    EXPECT_EQ(all - sum(others), alone);
    EXPECT_LE(alone.norm(), static_cast<double>(plan.lattice_sensitivity));
    EXPECT_GT(alone.norm(), 0);
  }
}

// Weights at the largest logit, rows at the bound, a clip that never and one that always binds.
TEST(SumClippedGradients, StaysWithinTheSensitivityAtTheEdges) {
  for (const Loss loss : {Loss::kOneVsRest, Loss::kSquared}) {
    for (const double clip : {0.001, 0.5, 100.0}) {
      TrainingSettings settings = SmallSettings();
      settings.loss = loss;
      settings.class_weights = {1, 0.1, 3};
      settings.max_record_weight = 10;
      LocalSettings local = SmallLocal();
      local.clip = clip;
      const LocalPlan plan = MakeLocalPlan(settings, local);
      OwnRecords own = MakeRecords(settings, 7, 40);
      own.x *= 1000;
      Eigen::MatrixXd weights = Eigen::MatrixXd::Zero(7, 3);
      weights.row(0).setConstant(724);
      ThreadPool pool(1);
      for (const std::int64_t row : AllRows(own)) {
        const double norm = SumClippedGradients(plan, weights, own, {row}, pool).norm();
        EXPECT_LE(norm, static_cast<double>(plan.lattice_sensitivity));
      }
    }
  }
}

TEST(TrainLocally, AddsNoiseOfTheDeclaredVarianceInEachStep) {
  TrainingSettings settings = SmallSettings();
  settings.features = 2000;
  LocalSettings local = SmallLocal();
  local.sigma = 3;
  ThreadPool pool(1);
  const OwnRecords none{.x = {}, .y = {}};
  for (const int steps : {1, 4}) {
    local.steps = steps;
    const LocalPlan plan = MakeLocalPlan(settings, local);
    const Eigen::MatrixXd weights = TrainLocally(plan, 0, none, pool, FixedCoins(3));
    // W = -eta / b * the steps' noises, each of deviation 4 / 40 * 3 * 0.5.
    const double variance = weights.squaredNorm() / static_cast<double>(weights.size());
    const double expected = steps * 0.15 * 0.15;
    // The squares' mean has deviation variance * sqrt(2 / n): five of them, a false alarm in 1.7 million
    // keys.
    EXPECT_NEAR(variance, expected, 5 * expected * std::sqrt(2.0 / static_cast<double>(weights.size())));
    const double deviation = std::ldexp(3 * 0.5, 2 * plan.lattice_bits());
    EXPECT_NEAR(EventOf(plan).deviation, deviation, 1e-6 * deviation);
  }
}

// Each row has a feature of its own, whose weight says whether it was drawn.
TEST(TrainLocally, DrawsEachRowAtTheRate) {
  TrainingSettings settings = SmallSettings();
  settings.rows = {400, 400, 400};
  settings.features = 400;
  settings.classes = 2;
  LocalSettings local = SmallLocal();
  local.expected_batch = 40;
  local.steps = 1;
  const LocalPlan plan = MakeLocalPlan(settings, local);
  EXPECT_DOUBLE_EQ(plan.sampling_rate, 0.1);
  OwnRecords own = MakeRecords(settings, 8, 400);
  own.x = decltype(own.x)::Identity(400, 400);
  ThreadPool pool(1);
  constexpr int kTrainings = 50;
  std::int64_t drawn = 0;
  for (int k = 0; k < kTrainings; ++k) {
    const Eigen::MatrixXd weights =
        TrainLocally(plan, 0, own, pool, FixedCoins(static_cast<std::uint8_t>(2 * k)));
    drawn += (weights.topRows(400).array() != 0).count();
  }
  // Five deviations of a binomial law: a false alarm for one choice of keys in 1.7 million.
  constexpr double kRows = kTrainings * 400.0;
  EXPECT_NEAR(static_cast<double>(drawn), 0.1 * kRows, 5 * std::sqrt(kRows * 0.1 * 0.9));
  EXPECT_EQ(TrainLocally(plan, 0, own, pool, FixedCoins(4)), TrainLocally(plan, 0, own, pool, FixedCoins(4)));
}

TEST(TrainLocally, KeepsWeightsWithinTheLargestLogit) {
  TrainingSettings settings = SmallSettings();
  LocalSettings local = SmallLocal();
  local.learning_rate = 1e6;
  local.sigma = 10;
  const LocalPlan plan = MakeLocalPlan(settings, local);
  ThreadPool pool(1);
  const Eigen::MatrixXd weights = TrainLocally(plan, 0, MakeRecords(settings, 9, 40), pool, FixedCoins(5));
  EXPECT_LE(weights.colwise().norm().maxCoeff() * dp::RowBound(plan.encoding.example), kLargestLocalLogit);
  EXPECT_GT(weights.colwise().norm().maxCoeff(), 100);
}

TEST(MakeLocalPlan, CalibratesToItsOwnEpsilon) {
  LocalSettings local = SmallLocal();
  local.sigma.reset();
  local.target_epsilon = 1.5;
  const LocalPlan plan = MakeLocalPlan(SmallSettings(), local);
  const double epsilon = dp::Epsilons({"a", "b", {EventOf(plan)}}, 1e-5).insider;
  EXPECT_LE(epsilon, 1.5);
  EXPECT_GT(epsilon, 1.499);
}

TEST(MakeLocalPlan, RefusesWhatIsOutsideItsDomain) {
  const auto refused = [](auto change) {
    TrainingSettings settings = SmallSettings();
    LocalSettings local = SmallLocal();
    change(settings, local);
    EXPECT_THROW((void)MakeLocalPlan(settings, local), ConfigError);
  };
  refused([](auto&, auto& local) { local.steps = 0; });
  refused([](auto&, auto& local) { local.expected_batch = 40.1; });
  refused([](auto&, auto& local) { local.learning_rate = 0; });
  refused([](auto&, auto& local) { local.learning_rate = 1e160; });  // weights' norms would be infinite
  refused([](auto&, auto& local) { local.expected_batch = 1e-160; });
  refused([](auto&, auto& local) { local.clip = 1025; });
  refused([](auto&, auto& local) { local.sigma = -1; });
  refused([](auto& settings, auto&) { settings.rows[2] = 0; });
  refused([](auto& settings, auto& local) {
    settings.rows = {1'000'000'000, 1'000'000'000, 1'000'000'000};
    local.clip = 1000;
  });
}

}  // namespace
}  // namespace trefoil::ml
