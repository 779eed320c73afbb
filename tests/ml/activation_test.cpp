#include "ml/activation.h"

#include "base/error.h"
#include "tests/support/ml_test.h"

namespace trefoil::ml {
namespace {

using mpc::Index;
using mpc::RingMatrix;
using namespace testing_support;  // NOLINT(google-build-using-namespace): test helpers only

class ActivationTest : public testing::TestWithParam<Loss> {};

TEST_P(ActivationTest, KeepsEveryErrorWithinItsBoundForAnyLogit) {
  constexpr int kBits = 16;
  const Activation activation = MakeActivation(GetParam(), 8, kBits);
  // |logit| < 2^62 is the truncation's range for the squared loss; the sigmoid takes any ring value.
  const RingMatrix logits =
      GetParam() == Loss::kSquared ? RandomSigned(1, 2000, 1, 61) : RandomWords(1, 2000, 1);
  const Outcome outcome = RunOn(
      Seed{1}, [&](mpc::Context& party) { return InsecureDeal(party, logits); },
      [&](mpc::Context& party, const mpc::ArithShare& share) {
        return Predict(party, activation, ToAdditive(share)).ring();
      });
  EXPECT_EQ(outcome.cost, Figures(PredictCost(activation, logits.size())));
  for (Index k = 0; k < logits.size(); ++k) {
    const double prediction = mpc::Decode(outcome.value(k, 0), kBits);
    ASSERT_LE(std::abs(prediction), activation.error_at_zero);
    ASSERT_LE(std::abs(prediction - 1), activation.error_at_one);
  }
}

INSTANTIATE_TEST_SUITE_P(Losses, ActivationTest, testing::Values(Loss::kOneVsRest, Loss::kSquared));

TEST(Predict, IsTheLogitItselfForSquaredLossWithinTheBound) {
  const Activation activation = MakeActivation(Loss::kSquared, 4, 12);
  const RingMatrix logits = RandomSigned(2, 500, 1, 25);  // |z| < 2 at 24 bits
  const Outcome outcome = RunOn(
      Seed{2}, [&](mpc::Context& party) { return InsecureDeal(party, logits); },
      [&](mpc::Context& party, const mpc::ArithShare& share) {
        return Predict(party, activation, ToAdditive(share)).ring();
      });
  for (Index k = 0; k < logits.size(); ++k) {
    ASSERT_NEAR(mpc::Decode(outcome.value(k, 0), 12), mpc::Decode(logits(k, 0), 24), std::ldexp(1.0, -12));
  }
}

TEST(MakeActivation, RefusesALogitBoundThatNoSeriesReaches) {
  EXPECT_THROW((void)MakeActivation(Loss::kOneVsRest, 65, 16), ConfigError);
  EXPECT_THROW((void)MakeActivation(Loss::kOneVsRest, 0, 16), ConfigError);
}

}  // namespace
}  // namespace trefoil::ml
