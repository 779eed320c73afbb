#include "ml/plan/step_privacy.h"

#include <cmath>

#include "base/error.h"
#include "ml/dpsgd/training.h"
#include "ml/plan/step_ranges.h"
#include "tests/support/ml_test.h"

namespace trefoil::ml {
namespace {

using namespace testing_support;  // NOLINT(google-build-using-namespace): test helpers only

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

// Strict jobs of few records, where every record is in every step, have multipliers in the hundreds.
TEST(MakePlan, GivesRowsTheBitsThatCalibratedNoiseTakes) {
  TrainingSettings settings = SmallSettings();
  settings.expected_batch = 120;
  settings.sigma.reset();
  for (const int steps : {1, 30, 1000}) {
    settings.steps = steps;
    for (const double epsilon : {0.3, 1.0, 8.0}) {
      settings.target_epsilon = epsilon;
      const double sigma = MakePlan(settings).sigma;
      EXPECT_LE(sigma, SigmaAbove(settings)) << steps << " steps, epsilon " << epsilon;
    }
  }
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
