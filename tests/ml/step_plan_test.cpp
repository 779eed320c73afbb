#include "ml/step_plan.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "tests/support/ml_test.h"

namespace trefoil::ml {
namespace {

using testing_support::SmallSettings;

TrainingSettings MnistSettings() {
  TrainingSettings settings;
  settings.rows = {20000, 20000, 20000};
  settings.features = 784;
  settings.classes = 10;
  settings.steps = 439;
  settings.expected_batch = 2048;
  settings.max_batch_per_owner = 900;
  settings.learning_rate = 90;
  settings.clip = 0.5;
  settings.target_epsilon = 3;
  settings.delta = 1e-5;
  settings.against = Adversary::kOutsider;
  return settings;
}

TEST(MakeStepPlan, ChargesTheRoundingOfTheErrorsToTheSensitivity) {
  const StepPlan plan = MakeStepPlan(MnistSettings());
  // C + sqrt(R^2 + 1) sqrt(c) 2^-f
  EXPECT_NEAR(plan.sensitivity, 0.5 + std::sqrt(2.0) * std::sqrt(10.0) / 65536, 1e-9);
  EXPECT_GE(static_cast<double>(plan.lattice_sensitivity), std::ldexp(plan.sensitivity, 32));
}

/// Rounding down is one outcome of the coins that the certificate holds for.
TEST(MakeStepPlan, ChargesExactTruncationTheSame) {
  TrainingSettings settings = MnistSettings();
  const StepPlan stochastic = MakeStepPlan(settings);
  settings.truncation = protocols::Rounding::kExact;
  const StepPlan exact = MakeStepPlan(settings);
  EXPECT_EQ(exact.lattice_sensitivity, stochastic.lattice_sensitivity);
  EXPECT_EQ(exact.example.error_norm, stochastic.example.error_norm);
  EXPECT_EQ(exact.activation.rounding, protocols::Rounding::kExact);
  EXPECT_EQ(exact.clip.pieces.rounding, protocols::Rounding::kExact);
  EXPECT_NE(Fingerprint(exact, 1), Fingerprint(stochastic, 1));
}

TEST(MakeStepPlan, KeepsSquaredGradientNormsBelow2To62AtEveryScale) {
  for (const int f : {8, 12, 16, 20, 24}) {
    TrainingSettings settings = SmallSettings();
    settings.fraction_bits = f;
    settings.classes = 10;
    const StepPlan plan = MakeStepPlan(settings);
    const double squared = dp::SquaredGradientBound(plan.example, std::ldexp(1.0, -plan.row_norm_bits));
    EXPECT_LT(std::ldexp(squared, plan.row_norm_bits + 2 * f), std::ldexp(1.0, 62)) << f;
    EXPECT_LE(plan.row_norm_bits, f);
  }
}

TEST(MakeStepPlan, RefusesJobsWhoseGradientCanLeaveTheRing) {
  TrainingSettings settings = MnistSettings();
  settings.fraction_bits = 24;
  settings.max_batch_per_owner = 20000;
  settings.clip = 100;
  EXPECT_THROW((void)MakeStepPlan(settings), ConfigError);
}

TEST(MakeStepPlan, RefusesValuesOutsideTheirDomain) {
  const auto refused = [](auto change) {
    TrainingSettings settings = MnistSettings();
    change(settings);
    EXPECT_THROW((void)MakeStepPlan(settings), ConfigError);
  };
  refused([](TrainingSettings& s) { s.fraction_bits = 7; });
  refused([](TrainingSettings& s) { s.fraction_bits = 25; });
  refused([](TrainingSettings& s) { s.expected_batch = 60001; });
  refused([](TrainingSettings& s) { s.expected_batch = 0; });
  refused([](TrainingSettings& s) { s.steps = 0; });
  refused([](TrainingSettings& s) { s.learning_rate = -1; });
  refused([](TrainingSettings& s) { s.clip = 0; });
  refused([](TrainingSettings& s) { s.row_norm = 0; });
  refused([](TrainingSettings& s) { s.max_batch_per_owner = 0; });
  refused([](TrainingSettings& s) { s.sigma = -0.5; });
  refused([](TrainingSettings& s) { s.logit_bound = 100; });
}

TEST(MakeStepPlan, RefusesPublishedClippingWhoseFactorCanLeaveTheRing) {
  TrainingSettings settings = SmallSettings();
  settings.clipping = Clipping::kPublished;
  settings.fraction_bits = 24;
  settings.clip = 4;
  EXPECT_THROW((void)MakeStepPlan(settings), ConfigError);
  settings.clip = 2;
  EXPECT_NO_THROW((void)MakeStepPlan(settings));
}

TEST(MakePlan, MeetsTheTargetForTheAdversaryItIsAgainst) {
  TrainingSettings settings = MnistSettings();
  const PrivacyPlan outsider = MakePlan(settings);
  EXPECT_LE(outsider.epsilon_outsider, 3);
  EXPECT_GT(outsider.epsilon_outsider, 2.99);
  EXPECT_GT(outsider.epsilon_insider, outsider.epsilon_outsider);
  settings.against = Adversary::kInsider;
  const PrivacyPlan insider = MakePlan(settings);
  EXPECT_LE(insider.epsilon_insider, 3);
  EXPECT_GT(insider.epsilon_insider, 2.99);
  EXPECT_GT(insider.sigma, outsider.sigma);
}

TEST(MakePlan, RefusesABatchLimitThatEatsTheDelta) {
  TrainingSettings settings = MnistSettings();
  settings.max_batch_per_owner = 700;
  EXPECT_THROW((void)MakePlan(settings), ConfigError);
}

TEST(MakePlan, RefusesNoiseNarrowerThanTheLattice) {
  TrainingSettings settings = MnistSettings();
  settings.fraction_bits = 8;
  settings.clip = 0.1;
  settings.sigma = 0.001;
  EXPECT_THROW((void)MakePlan(settings), ConfigError);
}

TEST(BatchLimits, AreCutForOwnerPoissonAndTheCapacitiesForPublicSampling) {
  TrainingSettings settings = MnistSettings();
  settings.rows = {500, 20000, 900};
  EXPECT_EQ(BatchLimits(settings), (std::array<std::int64_t, 3>{500, 900, 900}));
  EXPECT_EQ(MakeStepPlan(settings).batch_rows, 500 + 900 + 900);
  EXPECT_EQ(EventOf(MakeStepPlan(settings), 1, 1, 0).limits.max_batch, BatchLimits(settings));
  settings.sampling = Sampling::kPublic;
  EXPECT_EQ(BatchLimits(settings), settings.rows);
  EXPECT_EQ(MakeStepPlan(settings).batch_rows, 500 + 20000 + 900);
}

TEST(NoiseVariance, IsHalfOfSigmaDeltaSquaredRoundedUp) {
  const StepPlan plan = MakeStepPlan(MnistSettings());
  const double exact = std::pow(1.25 * static_cast<double>(plan.lattice_sensitivity), 2) / 2;
  const double variance = NoiseVariance(plan, 1.25).convert_to<double>();
  EXPECT_NEAR(variance / exact, 1, 1e-12);
  EXPECT_EQ(NoiseVariance(plan, 0), 0);
}

/// In integers, with sigma = s / 2^20: two parties' variances, 2 V, are at least s^2 Delta^2 / 2^40, and V is
/// the smallest integer of which that holds.
TEST(NoiseVariance, OfTwoPartiesIsAtLeastSigmaDeltaSquaredExactly) {
  for (const int f : {8, 16, 20}) {
    TrainingSettings settings = MnistSettings();
    settings.fraction_bits = f;
    const StepPlan plan = MakeStepPlan(settings);
    for (const std::uint64_t s : {1U, 7U, 1000U, 65537U, 885923U, 1048576U, 1310721U, 104857601U}) {
      const dp::Uint256 product = dp::Uint256(s) * plan.lattice_sensitivity;
      const dp::Uint256 promised = product * product;  // in units of 2^-40
      const dp::Uint256 variance = NoiseVariance(plan, std::ldexp(static_cast<double>(s), -20));
      EXPECT_GE((2 * variance) << 40, promised) << f << ' ' << s;
      EXPECT_LT((2 * (variance - 1)) << 40, promised) << f << ' ' << s;
    }
  }
}

}  // namespace
}  // namespace trefoil::ml
