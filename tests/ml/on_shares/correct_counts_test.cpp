#include "ml/on_shares/correct_counts.h"

#include <gtest/gtest.h>

#include <cmath>

#include "protocols/arithmetic/multiply.h"
#include "tests/reference/plain_classifier.h"
#include "tests/support/fixed_key.h"
#include "tests/support/ml_test.h"

namespace trefoil::ml {
namespace {

using mpc::ArithShare;
using mpc::Index;
using mpc::RingMatrix;
using mpc::Word;
using namespace testing_support;  // NOLINT(google-build-using-namespace): test helpers only

TEST(CorrectCounts, AreExactAtTheDeclaredCost) {
  for (const int classes : {2, 3, 5}) {
    TrainingSettings settings = SmallSettings();
    settings.classes = classes;
    const StepPlan plan = MakeStepPlan(settings);
    const OwnRecords records = MakeRecords(settings, 3, 37);
    const RingMatrix encoded = EncodeRecords(plan, records, AllRows(records), 45);  // 8 rows of padding
    RingMatrix models(7, plan.columns * 4);
    models << RandomSigned(20, 7, plan.columns * 3, 18),
        RingMatrix::Zero(7, plan.columns);  // all logits equal: class 0
    constexpr int kWidth = 44;
    struct Inputs {
      Batch batch;
      ArithShare models;
    };
    const Outcome outcome = RunOn(
        Seed{2},
        [&](mpc::Context& party) {
          return Inputs{ToBatch(plan, InsecureDeal(party, encoded)), InsecureDeal(party, models)};
        },
        [&](mpc::Context& party, const Inputs& inputs) {
          const auto logits = protocols::LocalMatrixProduct(party, inputs.batch.x.ring(), inputs.models);
          return protocols::Reshare(party, CorrectCounts(party, inputs.batch, logits, kWidth));
        });
    EXPECT_EQ(outcome.cost,
              Figures(Then(CorrectCountsCost(45, plan.columns, 4, kWidth), protocols::ReshareCost(4))));
    for (Index k = 0; k < 4; ++k) {
      const RingMatrix model = models.middleCols(k * plan.columns, plan.columns);
      const std::int64_t expected = reference::PlainCorrect(plan, encoded, model);
      EXPECT_EQ(mpc::Signed(outcome.value(k, 0)), expected << 16) << k;
      EXPECT_GT(expected, 0);
      EXPECT_LT(expected, 37);
    }
  }
}

TEST(PredictClasses, TakesTheFirstOfTheLargestAndClassOneAboveZero) {
  RingMatrix three(5, 3);
  const auto edge = static_cast<Word>((std::int64_t{1} << 62) - 1);
  const Word lowest = Word{0} - edge;
  three << 1, 2, 3, 5, 5, 5, edge, lowest, edge, lowest, lowest, edge, Word{0} - 1, 0, 0;
  RingMatrix expected(5, 3);
  expected << 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 0, 1, 0, 1, 0;
  RingMatrix one(5, 1);
  one << 0, 1, Word{0} - 1, edge, lowest;
  RingMatrix expected_of_one(5, 2);
  expected_of_one << 1, 0, 0, 1, 1, 0, 0, 1, 1, 0;
  for (const auto& [logits, classes] : {std::pair{three, expected}, std::pair{one, expected_of_one}}) {
    const Outcome outcome = RunOn(
        Seed{3}, [&](mpc::Context& party) { return InsecureDeal(party, logits); },
        [](mpc::Context& party, const ArithShare& x) { return PredictClasses(party, x, 64); });
    EXPECT_TRUE((outcome.value == classes).all()) << outcome.value;
    EXPECT_EQ(outcome.cost, Figures(PredictClassesCost(5, logits.cols(), 64)));
  }
}

TEST(CountNoise, HasHalfTheVarianceOfTheMultiplier) {
  constexpr Index kCounts = 20000;
  const StepNoise noise = CountNoise(RandomStream(FixedKey(5)), 3, 256, kCounts);
  double sum = 0;
  double squares = 0;
  for (Index k = 0; k < kCounts; ++k) {
    const auto value = static_cast<double>(mpc::Signed(noise.values()(k, 0)));
    sum += value;
    squares += value * value;
  }
  // Five standard errors of each under the normal approximation: a false alarm for one key in a million.
  const double variance = 9.0 * 256 * 256 / 2;
  EXPECT_NEAR(sum / kCounts, 0, 5 * std::sqrt(variance / kCounts));
  EXPECT_NEAR(squares / kCounts / variance, 1, 5 * std::sqrt(2.0 / kCounts));
  EXPECT_EQ(CountDeviation(3, 256), std::floor(std::sqrt(variance)));
}

}  // namespace
}  // namespace trefoil::ml
