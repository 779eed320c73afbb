#include "ml/activation.h"

#include <tuple>

#include "base/error.h"
#include "tests/support/ml_test.h"

namespace trefoil::ml {
namespace {

using mpc::Index;
using mpc::RingMatrix;
using protocols::Rounding;
using namespace testing_support;  // NOLINT(google-build-using-namespace): test helpers only

class ActivationTest : public testing::TestWithParam<std::tuple<Loss, Rounding>> {};

TEST_P(ActivationTest, KeepsEveryErrorWithinItsBoundForAnyLogit) {
  constexpr int kBits = 16;
  const auto [loss, rounding] = GetParam();
  const Activation activation = MakeActivation(loss, 8, kBits, rounding);
  // |logit| < 2^62 is the truncation's range for the squared loss; the sigmoid takes any ring value.
  const RingMatrix logits = loss == Loss::kSquared ? RandomSigned(1, 2000, 1, 61) : RandomWords(1, 2000, 1);
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

INSTANTIATE_TEST_SUITE_P(LossesAndRoundings, ActivationTest,
                         testing::Combine(testing::Values(Loss::kOneVsRest, Loss::kSquared),
                                          testing::Values(Rounding::kStochastic, Rounding::kExact)));

TEST(PredictCost, CountsAKeyForTheSigmoidsTruncationFrom56BitsWhenExact) {
  const mpc::Cost stochastic = PredictCost(MakeActivation(Loss::kOneVsRest, 8, 16), 10);
  const mpc::Cost exact = PredictCost(MakeActivation(Loss::kOneVsRest, 8, 16, Rounding::kExact), 10);
  EXPECT_EQ(exact.bytes_of_all() - stochastic.bytes_of_all(), 2U * 10 * 8 * (3 * (56 - 16) + 1));
}

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
