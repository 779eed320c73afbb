#include "ml/dpsgd/initial_weights.h"

#include <cmath>

#include "tests/support/fixed_key.h"
#include "tests/support/ml_test.h"

namespace trefoil::ml {
namespace {

using mpc::Index;
using mpc::RingMatrix;
using namespace testing_support;  // NOLINT(google-build-using-namespace): test helpers only

TrainingSettings WideSettings() {
  TrainingSettings settings = SmallSettings();
  settings.features = 100;
  settings.row_norm = 3;
  settings.hidden = {200};
  return settings;
}

RingMatrix Draw(const StepPlan& plan, std::uint8_t seed) {
  RandomStream coins(FixedKey(seed));
  return InitialWeights(plan, coins);
}

TEST(InitialWeights, HaveTheVarianceOfTheirLayerAndNoBias) {
  const StepPlan plan = MakeStepPlan(WideSettings());
  const Eigen::MatrixXd weights = mpc::Decode(Draw(plan, 1), plan.settings.fraction_bits);
  Index first = 0;
  for (const auto& [layer, variance] : {std::pair{plan.layers[0], 2.0 / 10}, {plan.layers[1], 2.0 / 200}}) {
    const Index count = layer.weights() - layer.outputs;
    const auto values = weights.middleRows(first, count);
    EXPECT_LE(values.cwiseAbs().maxCoeff(), std::sqrt(3 * variance));
    EXPECT_GT(values.cwiseAbs().maxCoeff(), 0.98 * std::sqrt(3 * variance));
    // The square of a uniform number of variance v has deviation sqrt(4/5) v: six standard errors of the
    // mean, a false alarm below 10^-8; the seed is fixed.
    const double tolerance = 6 * std::sqrt(0.8 / static_cast<double>(count));
    EXPECT_NEAR(values.squaredNorm() / static_cast<double>(count) / variance, 1, tolerance);
    EXPECT_EQ(weights.middleRows(first + count, layer.outputs).cwiseAbs().maxCoeff(), 0);
    first += layer.weights();
  }
  EXPECT_EQ(first, weights.rows());
}

TEST(InitialWeights, AreTheSameForTheSameSeedOnly) {
  const StepPlan plan = MakeStepPlan(WideSettings());
  EXPECT_TRUE((Draw(plan, 1) == Draw(plan, 1)).all());
  EXPECT_FALSE((Draw(plan, 1) == Draw(plan, 2)).all());
}

TEST(InitialWeights, AreZeroForALinearModel) {
  const StepPlan plan = MakeStepPlan(SmallSettings());
  const RingMatrix weights = Draw(plan, 1);
  EXPECT_EQ(weights.rows(), plan.settings.features + 1);
  EXPECT_EQ(weights.cols(), plan.columns);
  EXPECT_TRUE((weights == 0).all());
}

}  // namespace
}  // namespace trefoil::ml
