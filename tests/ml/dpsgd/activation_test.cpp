#include "ml/dpsgd/activation.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "base/error.h"
#include "tests/support/ml_test.h"

namespace trefoil::ml {
namespace {

using mpc::Index;
using mpc::RingMatrix;
using protocols::Form;
using protocols::Rounding;
using namespace testing_support;  // NOLINT(google-build-using-namespace): test helpers only

class ActivationTest : public testing::TestWithParam<std::tuple<Loss, Rounding, Form>> {};

TEST_P(ActivationTest, KeepsEveryErrorWithinItsBoundForAnyLogit) {
  constexpr int kBits = 16;
  const auto [loss, rounding, form] = GetParam();
  const Activation activation = MakeActivation(
      {.loss = loss, .logit_bound = 8, .frac_bits = kBits, .rounding = rounding, .form = form});
  // |logit| < 2^62 is the truncation's range for the squared loss; the sigmoid takes any ring value.
  const RingMatrix logits = loss == Loss::kOneVsRest ? RandomWords(1, 2000, 1) : RandomSigned(1, 2000, 1, 61);
  const Outcome outcome = RunOn(
      Seed{1}, [&](mpc::Context& party) { return InsecureDeal(party, logits); },
      [&](mpc::Context& party, const mpc::ArithShare& share) {
        return Predict(party, activation, ToAdditive(share)).ring();
      });
  EXPECT_EQ(outcome.cost, Figures(PredictCost(activation, logits.size())));
  for (Index k = 0; k < logits.size(); ++k) {
    const double prediction = mpc::Decode(outcome.value(k, 0), kBits);
    ASSERT_LE(std::abs(prediction), activation.error_norm);
    ASSERT_LE(std::abs(prediction - 1), activation.error_norm);
  }
  if (loss == Loss::kSquared) {
    EXPECT_EQ(activation.error_norm, 8.5);
  }
}

INSTANTIATE_TEST_SUITE_P(LossesAndRoundings, ActivationTest,
                         testing::Combine(testing::Values(Loss::kOneVsRest, Loss::kSquared, Loss::kPoisson),
                                          testing::Values(Rounding::kStochastic, Rounding::kExact),
                                          testing::Values(Form::kBulk, Form::kLatency)));

TEST(PredictCost, IsSixRoundsForSquaredLossInLatencyForm) {
  EXPECT_EQ(PredictCost(MakeActivation({.loss = Loss::kSquared, .form = Form::kBulk}), 10).rounds(), 13);
  EXPECT_EQ(PredictCost(MakeActivation({.loss = Loss::kSquared, .form = Form::kLatency}), 10).rounds(), 6);
}

TEST(PredictCost, CountsAKeyForTheSigmoidsTruncationFrom30BitsWhenExact) {
  const mpc::Cost stochastic = PredictCost(MakeActivation({.logit_bound = 8}), 10);
  const mpc::Cost exact = PredictCost(MakeActivation({.logit_bound = 8, .rounding = Rounding::kExact}), 10);
  EXPECT_EQ(exact.bytes_of_all() - stochastic.bytes_of_all(), 2U * 10 * 8 * (3 * (30 - 16) + 1));
}

// A single column's logit 0 is the middle between the labels 0 and 1, where classes are told apart.
TEST(Predict, IsTheLogitForSquaredLossWithinTheBoundAndAHalfMoreOfOneColumn) {
  for (const int columns : {1, 3}) {
    const Activation activation =
        MakeActivation({.loss = Loss::kSquared, .columns = columns, .logit_bound = 4, .frac_bits = 12});
    const RingMatrix logits = RandomSigned(2, 200, columns, 25);  // |z| < 2 at 24 bits
    const Outcome outcome = RunOn(
        Seed{2}, [&](mpc::Context& party) { return InsecureDeal(party, logits); },
        [&](mpc::Context& party, const mpc::ArithShare& share) {
          return Predict(party, activation, ToAdditive(share)).ring();
        });
    const Eigen::MatrixXd expected = mpc::Decode(logits, 24).array() + (columns == 1 ? 0.5 : 0.0);
    ASSERT_LE((mpc::Decode(outcome.value, 12) - expected).cwiseAbs().maxCoeff(), std::ldexp(1.0, -12));
  }
}

// Logits of -5 to 5, so that some are beyond 2, from which the prediction is 1.
TEST(Predict, IsTheExponentialUpToOneForPoissonsLoss) {
  for (const int bits : {12, 16, 24}) {
    for (const Form form : {Form::kBulk, Form::kLatency}) {
      const Activation activation = MakeActivation({.loss = Loss::kPoisson, .frac_bits = bits, .form = form});
      RingMatrix logits(201, 1);
      for (Index k = 0; k < logits.rows(); ++k)
        logits(k, 0) =
            static_cast<mpc::Word>(std::llround(std::ldexp(static_cast<double>(k - 100) / 20, 2 * bits)));
      const Outcome outcome = RunOn(
          Seed{2}, [&](mpc::Context& party) { return InsecureDeal(party, logits); },
          [&](mpc::Context& party, const mpc::ArithShare& share) {
            return Predict(party, activation, ToAdditive(share)).ring();
          });
      EXPECT_EQ(outcome.cost, Figures(PredictCost(activation, logits.size())));
      // A unit of the logit, which moves its exponential by as much at most, and the table's own error.
      const double tolerance = std::ldexp(1.0, -bits) + activation.error_norm - 1;
      for (Index k = 0; k < logits.rows(); ++k) {
        const double expected = ShareAt(Loss::kPoisson, static_cast<double>(k - 100) / 20);
        ASSERT_NEAR(mpc::Decode(outcome.value(k, 0), bits), expected, tolerance) << k;
      }
      EXPECT_LT(activation.error_norm, 1 + std::ldexp(4.0, -std::min(bits, 16)));
    }
  }
}

class HuberTest : public testing::TestWithParam<std::tuple<Rounding, Form>> {
 protected:
  static constexpr int kBits = 16;

  [[nodiscard]] static Activation Make() {
    const auto [rounding, form] = GetParam();
    return MakeActivation({.loss = Loss::kHuber,
                           .huber_threshold = 0.3,
                           .frac_bits = kBits,
                           .rounding = rounding,
                           .form = form});
  }

  /// From 0 to 1.
  [[nodiscard]] static RingMatrix Labels(Index rows) {
    return RandomWords(8, rows, 1).unaryExpr([](mpc::Word word) { return word % ((1 << kBits) + 1); });
  }

  [[nodiscard]] static Outcome Run(const Activation& activation, const RingMatrix& logits) {
    return RunOn(
        Seed{6},
        [&](mpc::Context& party) {
          return std::pair{InsecureDeal(party, logits), InsecureDeal(party, Labels(logits.rows()))};
        },
        [&](mpc::Context& party, const auto& in) {
          return Errors(party, activation, ToAdditive(in.first), mpc::FixedShare(in.second, kBits)).ring();
        });
  }
};

TEST_P(HuberTest, ClampsTheResidualToTheThreshold) {
  const Activation activation = Make();
  EXPECT_EQ(activation.error_norm, std::floor(0.3 * 65536) / 65536);
  const RingMatrix logits = RandomSigned(7, 1000, 1, 32);  // |z| < 1 at 32 bits
  const Outcome outcome = Run(activation, logits);
  EXPECT_EQ(outcome.cost, Figures(PredictCost(activation, logits.size())));
  const double d = activation.error_norm;
  int beyond = 0;
  for (Index k = 0; k < logits.rows(); ++k) {
    const double residual =
        mpc::Decode(logits(k, 0), 2 * kBits) + 0.5 - mpc::Decode(Labels(logits.rows())(k, 0), kBits);
    const double error = mpc::Decode(outcome.value(k, 0), kBits);
    ASSERT_LE(std::abs(error - std::clamp(residual, -d, d)), std::ldexp(1.0, -kBits)) << k;
    if (std::abs(residual) > d + std::ldexp(1.0, -kBits)) {
      ASSERT_EQ(std::abs(error), d);
      ++beyond;
    }
  }
  EXPECT_GT(beyond, 200);
  EXPECT_LT(beyond, 800);
}

/// Of any ring value, far beyond the range of the truncation.
TEST_P(HuberTest, KeepsEveryErrorWithinItsBoundForAnyLogit) {
  const Activation activation = Make();
  const Outcome outcome = Run(activation, RandomWords(9, 2000, 1));
  for (Index k = 0; k < outcome.value.rows(); ++k)
    ASSERT_LE(std::abs(mpc::Decode(outcome.value(k, 0), kBits)), activation.error_norm);
}

INSTANTIATE_TEST_SUITE_P(RoundingsAndForms, HuberTest,
                         testing::Combine(testing::Values(Rounding::kStochastic, Rounding::kExact),
                                          testing::Values(Form::kBulk, Form::kLatency)));

TEST(MakeActivation, RefusesAThresholdOfHubersLossThatIsNone) {
  EXPECT_EQ(PredictCost(MakeActivation({.loss = Loss::kHuber, .huber_threshold = 64}), 10).rounds(), 13);
  for (const double threshold : {0.0, std::ldexp(15.0, -16), 65.0, std::nan("")}) {
    EXPECT_THROW((void)MakeActivation({.loss = Loss::kHuber, .huber_threshold = threshold}), ContractError);
  }
  EXPECT_THROW((void)MakeActivation({.loss = Loss::kHuber, .columns = 3, .huber_threshold = 1}),
               ContractError);
}

class SoftmaxActivationTest : public testing::TestWithParam<std::tuple<double, Form>> {
 protected:
  static constexpr int kBits = 16;
  static constexpr int kColumns = 4;

  [[nodiscard]] static Activation Make() {
    const auto [bound, form] = GetParam();
    return MakeActivation({.loss = Loss::kSoftmax, .columns = kColumns, .logit_bound = bound, .form = form});
  }

  [[nodiscard]] static Outcome Run(const Activation& activation, const RingMatrix& logits) {
    return RunOn(
        Seed{3}, [&](mpc::Context& party) { return InsecureDeal(party, logits); },
        [&](mpc::Context& party, const mpc::ArithShare& share) {
          return Predict(party, activation, ToAdditive(share)).ring();
        });
  }
};

/// Any ring value, far beyond the range of the truncation.
TEST_P(SoftmaxActivationTest, KeepsEveryRowWithinItsDistanceOfEveryLabelForAnyRingValues) {
  const Activation activation = Make();
  const RingMatrix logits = RandomWords(4, 500, kColumns);
  const Outcome outcome = Run(activation, logits);
  EXPECT_EQ(outcome.cost, Figures(PredictCost(activation, logits.rows())));
  EXPECT_LT(activation.error_norm, 1.4144);
  const Eigen::MatrixXd predictions = mpc::Decode(outcome.value, kBits);
  for (Index row = 0; row < logits.rows(); ++row) {
    ASSERT_LE(predictions.row(row).norm(), activation.error_norm);  // of a padding row, without a label
    for (Index label = 0; label < kColumns; ++label) {
      const Eigen::RowVectorXd one_hot = Eigen::RowVectorXd::Unit(kColumns, label);
      ASSERT_LE((predictions.row(row) - one_hot).norm(), activation.error_norm) << row;
    }
  }
}

TEST_P(SoftmaxActivationTest, IsTheSoftmaxOfLogitsInRange) {
  const Activation activation = Make();
  const RingMatrix logits = RandomSigned(5, 300, kColumns, 34);  // |z| < 4 at 32 bits
  const Eigen::MatrixXd predictions = mpc::Decode(Run(activation, logits).value, kBits);
  const Eigen::MatrixXd exponentials = mpc::Decode(logits, 2 * kBits).array().exp();
  for (Index row = 0; row < logits.rows(); ++row) {
    const Eigen::RowVectorXd exact = exponentials.row(row) / exponentials.row(row).sum();
    // The truncation moves a logit by at most a unit, and softmax by at most half of that.
    ASSERT_LE((predictions.row(row) - exact).cwiseAbs().maxCoeff(),
              activation.softmax->error + std::ldexp(1.0, -kBits));
  }
}

INSTANTIATE_TEST_SUITE_P(BoundsAndForms, SoftmaxActivationTest,
                         testing::Combine(testing::Values(8.0, 64.0),
                                          testing::Values(Form::kBulk, Form::kLatency)));

TEST(MakeActivation, ClampsSoftmaxsLogitsWhereTheRingHasTheBits) {
  const auto clamped = [](double bound, int frac_bits) {
    const Activation activation =
        MakeActivation({.loss = Loss::kSoftmax, .columns = 3, .logit_bound = bound, .frac_bits = frac_bits});
    return activation.softmax->options.logit_bound.has_value();
  };
  EXPECT_TRUE(clamped(9.9, 16));
  EXPECT_FALSE(clamped(10.1, 16));
  EXPECT_TRUE(clamped(12, 8));
  EXPECT_FALSE(clamped(12.1, 8));
  EXPECT_TRUE(clamped(7.2, 24));
  EXPECT_FALSE(clamped(7.3, 24));
}

TEST(MakeActivation, TakesOneVsRestForSoftmaxOfTwoClasses) {
  const Activation activation = MakeActivation({.loss = Loss::kSoftmax, .columns = 1});
  EXPECT_FALSE(activation.softmax);
  EXPECT_EQ(activation.series, MakeActivation({}).series);
}

TEST(MakeActivation, RefusesWhatSoftmaxDoesNotHave) {
  EXPECT_THAT(
      [] { (void)MakeActivation({.loss = Loss::kSoftmax, .columns = 3, .rounding = Rounding::kExact}); },
      testing::ThrowsMessage<ConfigError>(testing::HasSubstr("expected \"stochastic\" with model.loss")));
  EXPECT_THROW((void)MakeActivation({.loss = Loss::kSoftmax, .columns = 3, .logit_bound = 0.1}), ConfigError);
}

TEST(MakeActivation, RefusesALogitBoundThatNoSeriesReaches) {
  EXPECT_THROW((void)MakeActivation({.logit_bound = 65}), ConfigError);
  EXPECT_THROW((void)MakeActivation({.logit_bound = 0}), ConfigError);
}

}  // namespace
}  // namespace trefoil::ml
