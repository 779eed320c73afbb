#include "ml/step_plan.h"

#include <cmath>

#include "base/error.h"
#include "tests/support/ml_test.h"

namespace trefoil::ml {
namespace {

using namespace testing_support;  // NOLINT(google-build-using-namespace): test helpers only

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

TEST(MakeStepPlan, RefusesPublishedClippingWhoseFactorCanLeaveTheRing) {
  TrainingSettings settings = SmallSettings();
  settings.clipping = Clipping::kPublished;
  settings.fraction_bits = 24;
  settings.clip = 4;
  EXPECT_THROW((void)MakeStepPlan(settings), ConfigError);
  settings.clip = 2;
  EXPECT_NO_THROW((void)MakeStepPlan(settings));
}

}  // namespace
}  // namespace trefoil::ml
