#include "protocols/functions/sigmoid.h"

#include <cmath>

#include "base/error.h"
#include "protocols/arithmetic/masked_opening.h"
#include "protocols/arithmetic/truncate.h"
#include "protocols/functions/sin_cos.h"
#include "tests/reference/plain_sigmoid.h"
#include "tests/support/protocol_test.h"

namespace trefoil::protocols {
namespace {

using mpc::Index;
using mpc::RingMatrix;
using mpc::Word;
using reference::SeriesAt;
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

struct SigmoidCase {
  double logit_bound;
  int frac_bits;
  SeriesWords words;

  /// What the evaluation, with the truncation's unit, may be off the series.
  [[nodiscard]] double rounding() const { return std::ldexp(1.0, -frac_bits) + EvaluationError(words); }
};

class SigmoidTest : public testing::TestWithParam<SigmoidCase> {};

TEST_P(SigmoidTest, IsWithinItsErrorOnItsRangeAndBoundedEverywhereAtTheDeclaredCost) {
  const auto [logit_bound, f, words] = GetParam();
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
        return Sigmoid(party, share, series, {.words = GetParam().words}).ring();
      });

  EXPECT_EQ(outcome.cost, Figures(SigmoidCost(x.size(), f, series, {.words = words})));
  EXPECT_LE(series.error + EvaluationError(words), 0.005);
  const double rounding = GetParam().rounding();
  for (Index k = 0; k < x.size(); ++k) {
    const double value = mpc::Decode(outcome.value(k, 0), f);
    ASSERT_GE(value, -series.excess - rounding);
    ASSERT_LE(value, 1 + series.excess + rounding);
    if (k >= kGrid) continue;
    ASSERT_NEAR(value, TrueSigmoid(mpc::Decode(x(k, 0), f)), series.error + rounding)
        << mpc::Decode(x(k, 0), f);
  }
}

TEST_P(SigmoidTest, TakesALocalProductAtTwiceTheScaleAndIsBoundedEverywhere) {
  const auto [logit_bound, f, words] = GetParam();
  const SigmoidSeries& series = SigmoidSeriesFor(logit_bound);
  RingMatrix z = RandomSigned(3, 600, 1, 2 * f + 1);  // |z| < 2
  z.bottomRows(100) = RandomWords(4, 100, 1);
  const Outcome outcome = RunOn(
      Seed{2}, [&](mpc::Context& party) { return InsecureDeal(party, z); },
      [&, f = f](mpc::Context& party, const mpc::ArithShare& share) {
        return SigmoidOfProduct(party, ToAdditive(share), 2 * f, f, series, {.words = GetParam().words})
            .ring();
      });
  EXPECT_EQ(outcome.cost, Figures(SigmoidOfProductCost(z.size(), 2 * f, f, series, {.words = words})));
  const double rounding = GetParam().rounding();
  for (Index k = 0; k < z.size(); ++k) {
    const double value = mpc::Decode(outcome.value(k, 0), f);
    ASSERT_GE(value, -series.excess - rounding);
    ASSERT_LE(value, 1 + series.excess + rounding);
    if (k >= 500) continue;
    ASSERT_NEAR(value, TrueSigmoid(mpc::Decode(z(k, 0), 2 * f)), series.error + rounding);
  }
}

/// Never above the series, and less than a unit below it, beyond the evaluation's own error.
TEST_P(SigmoidTest, RoundsTheSeriesDownWhenExactAtTheDeclaredCost) {
  const auto [logit_bound, f, words] = GetParam();
  const SigmoidSeries& series = SigmoidSeriesFor(logit_bound);
  const SigmoidOptions exactly{.rounding = Rounding::kExact, .words = words};
  const RingMatrix x = RandomSigned(5, 600, 1, 2 * f + 1);  // at scale 2f, |x| < 2
  const RingMatrix x_at_f = RandomSigned(6, 600, 1, f + 1);
  const Outcome of_product = RunOn(
      Seed{3}, [&](mpc::Context& party) { return InsecureDeal(party, x); },
      [&, f = f](mpc::Context& party, const mpc::ArithShare& share) {
        return SigmoidOfProduct(party, ToAdditive(share), 2 * f, f, series, exactly).ring();
      });
  const Outcome of_share = RunOn(
      Seed{4}, [&, f = f](mpc::Context& party) { return mpc::FixedShare(InsecureDeal(party, x_at_f), f); },
      [&](mpc::Context& party, const mpc::FixedShare& share) {
        return Sigmoid(party, share, series, exactly).ring();
      });
  EXPECT_EQ(of_product.cost, Figures(SigmoidOfProductCost(x.size(), 2 * f, f, series, exactly)));
  EXPECT_EQ(of_share.cost, Figures(SigmoidCost(x.size(), f, series, exactly)));
  const double unit = std::ldexp(1.0, -f);
  const double evaluation = EvaluationError(words);
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

INSTANTIATE_TEST_SUITE_P(
    RangesAndScales, SigmoidTest,
    testing::Values(SigmoidCase{8, 16, SeriesWords::kHalf},
                    SigmoidCase{8, kMostBitsOfHalfWords, SeriesWords::kHalf},
                    SigmoidCase{16, 11, SeriesWords::kHalf}, SigmoidCase{32, 20, SeriesWords::kHalf},
                    SigmoidCase{64, 16, SeriesWords::kHalf}, SigmoidCase{64, 24, SeriesWords::kHalf},
                    SigmoidCase{8, 16, SeriesWords::kWhole}, SigmoidCase{16, 8, SeriesWords::kWhole},
                    SigmoidCase{64, 24, SeriesWords::kWhole}),
    [](const auto& info) {
      return "bound_" + std::to_string(static_cast<int>(info.param.logit_bound)) + "_f_" +
             std::to_string(info.param.frac_bits) +
             (info.param.words == SeriesWords::kHalf ? "_half" : "_whole");
    });

/// A sum, of which two parties hold halves modulo 2^width, at the scale of half words, truncated to
/// `frac_bits`.
RingMatrix TruncatedHalves(const RingMatrix& sum, int frac_bits, int width) {
  const RingMatrix of_first = RandomWords(7, sum.rows(), sum.cols());
  return RunOn(
             Seed{5}, [](mpc::Context&) { return 0; },
             [&](mpc::Context& party, int) {
               const MaskedOpening opening(party);
               RingMatrix half;
               if (!opening.dealer()) half = opening.first() ? of_first : RingMatrix(sum - of_first);
               return TruncatePair(opening, half, sum.rows(), sum.cols(),
                                   kMostBitsOfHalfWords + 1 - frac_bits, Rounding::kExact, width);
             })
      .value;
}

/// Where a series is largest it is above 1, so that its sum before the truncation is above 1/2 by what 31
/// bits do not hold: with one bit fewer the results of some masks are negative.
TEST(SigmoidInHalfWords, NeedsAllOfThem32BitsWhereTheSeriesLeavesTheInterval) {
  constexpr int kBits = 16;
  for (const double bound : {8.0, 16.0, 32.0, 64.0}) {
    const SigmoidSeries& series = SigmoidSeriesFor(bound);
    std::int64_t largest = 0;
    const auto series_at = [&](std::int64_t x) {
      return SeriesAt(series, std::ldexp(static_cast<double>(x), -kBits));
    };
    const auto quarter = static_cast<std::int64_t>(std::ldexp(1.0, kBits + series.log2_period - 2));
    for (std::int64_t x = 0; x <= quarter; x += 16) {
      if (series_at(x) > series_at(largest)) largest = x;
    }
    EXPECT_GT(series_at(largest) - EvaluationError(SeriesWords::kHalf), 1);
    EXPECT_LT(0.5 + series.excess + EvaluationError(SeriesWords::kHalf), 1) << "the edge of 32 bits";
    for (const std::int64_t x : {largest, -largest}) {
      const RingMatrix all = RingMatrix::Constant(2000, 1, static_cast<Word>(x));
      const Outcome outcome = RunOn(
          Seed{5}, [&](mpc::Context& party) { return mpc::FixedShare(InsecureDeal(party, all), kBits); },
          [&](mpc::Context& party, const mpc::FixedShare& share) {
            return Sigmoid(party, share, series).ring();
          });
      for (Index k = 0; k < all.size(); ++k) {
        ASSERT_NEAR(mpc::Decode(outcome.value(k, 0), kBits), series_at(x),
                    EvaluationError(SeriesWords::kHalf) + std::ldexp(1.0, -kBits));
      }
    }
    // Less 1/2, as it is summed up.
    const auto sum =
        static_cast<std::int64_t>(std::ldexp(series_at(largest) - 0.5, kMostBitsOfHalfWords + 1));
    const RingMatrix sums = RingMatrix::Constant(2000, 1, static_cast<Word>(sum));
    const auto right = static_cast<Word>(sum >> (kMostBitsOfHalfWords + 1 - kBits));
    EXPECT_TRUE((TruncatedHalves(sums, kBits, 32) == right).all());
    EXPECT_FALSE((TruncatedHalves(sums, kBits, 31) == right).all());
  }
}

TEST(Sigmoid, RefusesMoreFractionBitsThanItsWordsHoldBeforeSending) {
  const SigmoidSeries& series = SigmoidSeriesFor(8);
  const auto sent = RunParties(Seed{6}, [&](mpc::Context& party) {
    const mpc::FixedShare x(InsecureDeal(party, RingMatrix::Zero(4, 1)), kMostBitsOfHalfWords + 1);
    const mpc::FixedShare finer(InsecureDeal(party, RingMatrix::Zero(4, 1)), 56);
    EXPECT_THROW((void)Sigmoid(party, x, series), ContractError);
    EXPECT_THROW((void)Sigmoid(party, finer, series, {.words = SeriesWords::kWhole}), ContractError);
    return party.transport().counters().messages;
  });
  EXPECT_EQ(sent, (std::array<std::uint64_t, 3>{0, 0, 0}));
}

TEST(SigmoidSeriesFor, RefusesWhatNoSeriesReaches) {
  EXPECT_THROW((void)SigmoidSeriesFor(65), ContractError);
  EXPECT_THROW((void)SigmoidSeriesFor(0), ContractError);
}

TEST(Sigmoid, KeepsTheDesignsBudget) {
  for (const SeriesWords words : {SeriesWords::kHalf, SeriesWords::kWhole}) {
    const std::size_t word = words == SeriesWords::kHalf ? 4 : 8;
    for (const double bound : {8.0, 64.0}) {
      const SigmoidSeries& series = SigmoidSeriesFor(bound);
      const mpc::Cost cost = SigmoidCost(1000, 16, series, {.words = words});
      const mpc::Cost product = SigmoidOfProductCost(1000, 32, 16, series, {.words = words});
      EXPECT_EQ(cost.rounds(), 3);
      EXPECT_EQ(product.rounds(), 3);
      EXPECT_LE(cost.bytes_of_all(), 1000 * (word * 2 * series.coefficients.size() + 8 * 8));
      EXPECT_LE(product.bytes_of_all(), 1000 * (word * 2 * series.coefficients.size() + 8 * 10));
    }
  }
}

}  // namespace
}  // namespace trefoil::protocols
