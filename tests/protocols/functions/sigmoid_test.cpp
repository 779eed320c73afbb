#include "protocols/functions/sigmoid.h"

#include <cmath>

#include "base/error.h"
#include "protocols/functions/sin_cos.h"
#include "tests/support/protocol_test.h"

namespace trefoil::protocols {
namespace {

using mpc::Index;
using mpc::RingMatrix;
using mpc::Word;
using namespace testing_support;  // NOLINT(google-build-using-namespace): test helpers only

double TrueSigmoid(double x) { return 1 / (1 + std::exp(-x)); }

TEST(SinCosOfTurn, IsWithin3e7OfTheRealFunctions) {
  const RingMatrix turns = RandomWords(1, 20000, 1);
  for (Index k = 0; k < turns.size(); ++k) {
    const double angle = 2 * M_PI * std::ldexp(static_cast<double>(turns(k, 0)), -64);
    const SinCos value = SinCosOfTurn(turns(k, 0));
    ASSERT_NEAR(std::ldexp(static_cast<double>(value.sin), -30), std::sin(angle), 3e-7);
    ASSERT_NEAR(std::ldexp(static_cast<double>(value.cos), -30), std::cos(angle), 3e-7);
  }
}

class SigmoidTest : public testing::TestWithParam<std::pair<double, int>> {};

TEST_P(SigmoidTest, IsWithinItsErrorOnItsRangeAndBoundedEverywhereAtTheDeclaredCost) {
  const auto [logit_bound, f] = GetParam();
  const SigmoidSeries& series = SigmoidSeriesFor(logit_bound);
  constexpr Index kGrid = 4001;
  RingMatrix x(kGrid + 500, 1);
  for (Index k = 0; k < kGrid; ++k) {
    const double value = logit_bound * (2 * static_cast<double>(k) / (kGrid - 1) - 1);
    x(k, 0) = static_cast<Word>(std::llround(std::ldexp(value, f)));
  }
  x.bottomRows(500) = RandomWords(2, 500, 1);

  const Outcome outcome = RunOn(
      Seed{1}, [&](mpc::Context& party) { return mpc::FixedShare(InsecureDeal(party, x), f); },
      [&](mpc::Context& party, const mpc::FixedShare& share) {
        return Sigmoid(party, share, series).ring();
      });

  EXPECT_EQ(outcome.cost, Figures(SigmoidCost(x.size(), f, series)));
  EXPECT_LE(series.error, 0.005);
  const double rounding = std::ldexp(1.0, -f) + std::ldexp(1.0, -20);
  for (Index k = 0; k < x.size(); ++k) {
    const double value = mpc::Decode(outcome.value(k, 0), f);
    ASSERT_GE(value, -series.excess - rounding);
    ASSERT_LE(value, 1 + series.excess + rounding);
    if (k >= kGrid) continue;
    ASSERT_NEAR(value, TrueSigmoid(mpc::Decode(x(k, 0), f)), series.error + rounding)
        << mpc::Decode(x(k, 0), f);
  }
}

TEST_P(SigmoidTest, TakesALocalProductAtTwiceTheScale) {
  const auto [logit_bound, f] = GetParam();
  const SigmoidSeries& series = SigmoidSeriesFor(logit_bound);
  RingMatrix z = RandomSigned(3, 600, 1, 2 * f + 1);  // |z| < 2
  z.bottomRows(100) = RandomWords(4, 100, 1);
  const Outcome outcome = RunOn(
      Seed{2}, [&](mpc::Context& party) { return InsecureDeal(party, z); },
      [&, f = f](mpc::Context& party, const mpc::ArithShare& share) {
        return SigmoidOfProduct(party, ToAdditive(share), 2 * f, f, series).ring();
      });
  EXPECT_EQ(outcome.cost, Figures(SigmoidOfProductCost(z.size(), 2 * f, f, series)));
  const double rounding = std::ldexp(1.0, -f) + std::ldexp(1.0, -20);
  for (Index k = 0; k < 500; ++k) {
    ASSERT_NEAR(mpc::Decode(outcome.value(k, 0), f), TrueSigmoid(mpc::Decode(z(k, 0), 2 * f)),
                series.error + rounding);
  }
}

double SeriesAt(const SigmoidSeries& series, double x) {
  double sum = 0.5;
  for (std::size_t j = 0; j < series.coefficients.size(); ++j) {
    const double angle = 2 * M_PI * static_cast<double>(2 * j + 1) * x / std::ldexp(1.0, series.log2_period);
    sum += std::ldexp(static_cast<double>(series.coefficients[j]), -28) * std::sin(angle);
  }
  return sum;
}

/// Never above the series, and less than a unit below it, beyond the evaluation's own error.
TEST_P(SigmoidTest, RoundsTheSeriesDownWhenExactAtTheDeclaredCost) {
  const auto [logit_bound, f] = GetParam();
  const SigmoidSeries& series = SigmoidSeriesFor(logit_bound);
  const RingMatrix x = RandomSigned(5, 600, 1, 2 * f + 1);  // at scale 2f, |x| < 2
  const RingMatrix x_at_f = RandomSigned(6, 600, 1, f + 1);
  const Outcome of_product = RunOn(
      Seed{3}, [&](mpc::Context& party) { return InsecureDeal(party, x); },
      [&, f = f](mpc::Context& party, const mpc::ArithShare& share) {
        return SigmoidOfProduct(party, ToAdditive(share), 2 * f, f, series, Rounding::kExact).ring();
      });
  const Outcome of_share = RunOn(
      Seed{4}, [&, f = f](mpc::Context& party) { return mpc::FixedShare(InsecureDeal(party, x_at_f), f); },
      [&](mpc::Context& party, const mpc::FixedShare& share) {
        return Sigmoid(party, share, series, Rounding::kExact).ring();
      });
  EXPECT_EQ(of_product.cost, Figures(SigmoidOfProductCost(x.size(), 2 * f, f, series, Rounding::kExact)));
  EXPECT_EQ(of_share.cost, Figures(SigmoidCost(x.size(), f, series, Rounding::kExact)));
  const double unit = std::ldexp(1.0, -f);
  const double evaluation = std::ldexp(1.0, -20);
  const auto expect_rounded_down = [&](double value, double exact) {
    EXPECT_LE(value, exact + evaluation);
    EXPECT_GT(value, exact - unit - evaluation);
  };
  for (Index k = 0; k < x.size(); ++k) {
    expect_rounded_down(mpc::Decode(of_product.value(k, 0), f),
                        SeriesAt(series, mpc::Decode(x(k, 0), 2 * f)));
    expect_rounded_down(mpc::Decode(of_share.value(k, 0), f), SeriesAt(series, mpc::Decode(x_at_f(k, 0), f)));
  }
}

INSTANTIATE_TEST_SUITE_P(RangesAndScales, SigmoidTest,
                         testing::Values(std::pair{8.0, 16}, std::pair{16.0, 8}, std::pair{32.0, 20},
                                         std::pair{64.0, 16}, std::pair{64.0, 24}),
                         [](const auto& info) {
                           return "bound_" + std::to_string(static_cast<int>(info.param.first)) + "_f_" +
                                  std::to_string(info.param.second);
                         });

TEST(SigmoidSeriesFor, RefusesWhatNoSeriesReaches) {
  EXPECT_THROW((void)SigmoidSeriesFor(65), ContractError);
  EXPECT_THROW((void)SigmoidSeriesFor(0), ContractError);
}

TEST(Sigmoid, KeepsTheDesignsBudget) {
  for (const double bound : {8.0, 64.0}) {
    const SigmoidSeries& series = SigmoidSeriesFor(bound);
    const mpc::Cost cost = SigmoidCost(1000, 16, series);
    const mpc::Cost product = SigmoidOfProductCost(1000, 32, 16, series);
    EXPECT_EQ(cost.rounds(), 3);
    EXPECT_EQ(product.rounds(), 3);
    EXPECT_LE(cost.bytes_of_all(), 8000 * (2 * series.coefficients.size() + 8));
    EXPECT_LE(product.bytes_of_all(), 8000 * (2 * series.coefficients.size() + 10));
  }
}

}  // namespace
}  // namespace trefoil::protocols
