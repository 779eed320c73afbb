#include "protocols/functions/inverse_sqrt.h"

#include <cmath>
#include <functional>
#include <random>

#include "tests/support/protocol_test.h"

namespace trefoil::protocols {
namespace {

using mpc::FixedShare;
using mpc::Index;
using mpc::RingMatrix;
using namespace testing_support;  // NOLINT(google-build-using-namespace): test helpers only

/// Log-uniform over every positive ring element, with all powers of two, their neighbours and the ends.
RingMatrix PositiveInputs(Index random) {
  std::vector<std::int64_t> values;
  for (int t = 0; t < 63; ++t) {
    const std::int64_t power = std::int64_t{1} << t;
    for (const std::int64_t v : {power - 1, power, power + 1}) {
      if (v > 0) values.push_back(v);
    }
  }
  values.push_back(std::numeric_limits<std::int64_t>::max());
  std::mt19937_64 generator(5);
  std::uniform_real_distribution<double> exponent(0, 62.999);
  for (Index k = 0; k < random; ++k)
    values.push_back(static_cast<std::int64_t>(std::exp2(exponent(generator))));
  return Column(values);
}

using Function = std::function<FixedShare(mpc::Context&, const FixedShare&)>;

Function Published(Rounding rounding = Rounding::kStochastic) {
  return [rounding](mpc::Context& party, const FixedShare& x) {
    return InverseSqrtPublished(party, x, rounding);
  };
}

Function InForm(Form form, Rounding rounding = Rounding::kStochastic) {
  return [form, rounding](mpc::Context& party, const FixedShare& x) {
    return InverseSqrt(party, x, form, rounding);
  };
}

Outcome RunFunction(const Function& function, const RingMatrix& x, int f) {
  return RunOn(
      Seed{3}, [&](mpc::Context& party) { return FixedShare(InsecureDeal(party, x), f); },
      [&](mpc::Context& party, const FixedShare& share) { return function(party, share).ring(); });
}

/// Never above the charged bound; never more than 0.89 % and what rounding can take below.
void CheckBounds(const RingMatrix& x, const RingMatrix& y, int f) {
  const Excess excess = InverseSqrtExcess(f);
  const long double unit = std::ldexp(1.0L, -f);
  for (Index k = 0; k < x.size(); ++k) {
    const long double truth = 1 / std::sqrt(std::ldexp(static_cast<long double>(x(k, 0)), -f));
    const long double value = std::ldexp(static_cast<long double>(mpc::Signed(y(k, 0))), -f);
    ASSERT_LE(value, truth * (1 + static_cast<long double>(excess.relative)) +
                         unit * static_cast<long double>(excess.units))
        << "x = " << x(k, 0);
    ASSERT_GE(value, truth * (1 - 0.0090L - 8 * unit) - 3 * unit) << "x = " << x(k, 0);
  }
}

class InverseSqrtTest : public testing::TestWithParam<int> {};

TEST_P(InverseSqrtTest, PublishedHoldsItsBoundOnTheWholeRangeAtTheDeclaredCost) {
  const int f = GetParam();
  const RingMatrix x = PositiveInputs(3000);
  const mpc::Cost declared = InverseSqrtPublishedCost(x.size(), f);
  const Outcome outcome = RunFunction(Published(), x, f);
  EXPECT_EQ(outcome.cost, Figures(declared));
  CheckBounds(x, outcome.value, f);
}

TEST_P(InverseSqrtTest, TheTableFormHoldsTheSameBoundIn21Rounds) {
  const int f = GetParam();
  const RingMatrix x = PositiveInputs(3000);
  const mpc::Cost declared = InverseSqrtCost(x.size(), f);
  const Outcome outcome = RunFunction(InForm(Form::kBulk), x, f);
  EXPECT_EQ(outcome.cost, Figures(declared));
  EXPECT_LE(declared.rounds(), GetParam() <= 20 ? 21 : 23);
  CheckBounds(x, outcome.value, f);
}

TEST_P(InverseSqrtTest, TheLatencyFormHoldsTheSameBoundIn8Rounds) {
  const int f = GetParam();
  const RingMatrix x = PositiveInputs(1000);
  const mpc::Cost declared = InverseSqrtCost(x.size(), f, Form::kLatency);
  const Outcome outcome = RunFunction(InForm(Form::kLatency), x, f);
  EXPECT_EQ(outcome.cost, Figures(declared));
  EXPECT_LE(declared.rounds(), GetParam() <= 20 ? 8 : 10);
  CheckBounds(x, outcome.value, f);
}

/// Rounding down is one outcome of the coins, so the same bound holds; and no result depends on the keys.
TEST_P(InverseSqrtTest, HoldsTheSameBoundWithExactRoundingAtTheDeclaredCost) {
  const int f = GetParam();
  const RingMatrix x = PositiveInputs(300);
  const Outcome published = RunFunction(Published(Rounding::kExact), x, f);
  EXPECT_EQ(published.cost, Figures(InverseSqrtPublishedCost(x.size(), f, Rounding::kExact)));
  CheckBounds(x, published.value, f);
  const Outcome bulk = RunFunction(InForm(Form::kBulk, Rounding::kExact), x, f);
  EXPECT_EQ(bulk.cost, Figures(InverseSqrtCost(x.size(), f, Form::kBulk, Rounding::kExact)));
  CheckBounds(x, bulk.value, f);
  const Outcome latency = RunFunction(InForm(Form::kLatency, Rounding::kExact), x, f);
  EXPECT_EQ(latency.cost, Figures(InverseSqrtCost(x.size(), f, Form::kLatency, Rounding::kExact)));
  EXPECT_TRUE((latency.value == bulk.value).all());
}

INSTANTIATE_TEST_SUITE_P(FractionBits, InverseSqrtTest, testing::Values(8, 9, 16, 20, 23, 24));

/// Every input below 2^16; and of each leading bit above, the first and the last ones and some between.
RingMatrix EveryInput() {
  std::vector<std::int64_t> values;
  for (std::int64_t x = 1; x < (1 << 16); ++x) values.push_back(x);
  for (int t = 16; t < 63; ++t) {
    const std::int64_t start = std::int64_t{1} << t;
    for (std::int64_t k = 0; k < 20; ++k) {
      values.push_back(start + k);
      values.push_back(start - 1 + (start - k));
      values.push_back(start + (start / 20) * k + k);
    }
  }
  return Column(values);
}

TEST(InverseSqrt, HoldsItsBoundsForEveryInputAtEightBits) {
  const RingMatrix all = EveryInput();
  CheckBounds(all, RunFunction(Published(), all, 8).value, 8);
  CheckBounds(all, RunFunction(InForm(Form::kBulk), all, 8).value, 8);
  constexpr Index kKeysAtATime = 4096;  // of some kilobytes each
  for (Index start = 0; start < all.rows(); start += kKeysAtATime) {
    const RingMatrix some = all.middleRows(start, std::min(kKeysAtATime, all.rows() - start));
    CheckBounds(some, RunFunction(InForm(Form::kLatency), some, 8).value, 8);
  }
}

/// Within some units of where the polynomial's deficit has its extremes, in every octave: at its ends, the
/// most and the least; and at 0.62 and 0.86 of the next power of two.
RingMatrix AdversarialInputs(std::int64_t units, Index random) {
  std::vector<std::int64_t> values;
  for (int t = 1; t < 63; ++t) {
    for (const double part : {0.5, 0.62, 0.86, 1.0}) {
      const double at = std::min(std::ldexp(part, t + 1), std::ldexp(1.0, 63) - 2048);
      for (std::int64_t k = -units; k <= units; ++k) {
        const std::int64_t x = static_cast<std::int64_t>(at) + k;
        if (x > 0) values.push_back(x);
      }
    }
  }
  for (std::int64_t k = 0; k < units; ++k) values.push_back(std::numeric_limits<std::int64_t>::max() - k);
  return mpc::Stacked(PositiveInputs(random), Column(values));
}

TEST_P(InverseSqrtTest, HoldsItsBoundsOnDenseAndAdversarialInputs) {
  const int f = GetParam();
  const RingMatrix many = AdversarialInputs(12, 20000);
  CheckBounds(many, RunFunction(Published(), many, f).value, f);
  CheckBounds(many, RunFunction(InForm(Form::kBulk), many, f).value, f);
  const RingMatrix fewer = AdversarialInputs(2, 500);
  CheckBounds(fewer, RunFunction(InForm(Form::kLatency), fewer, f).value, f);
}

TEST(InverseSqrtPublished, IsBelowTheTrueValueOnTheSeedsRange) {
  constexpr int kBits = 20;
  RingMatrix x(5000, 1);
  for (Index k = 0; k < x.size(); ++k) {
    x(k, 0) = mpc::Encode(0.01 * std::pow(30000.0, static_cast<double>(k) / 4999.0), kBits, 301);
  }
  const Outcome outcome = RunFunction(Published(), x, kBits);
  double largest = -1;
  double smallest = 1;
  for (Index k = 0; k < x.size(); ++k) {
    const double truth = 1 / std::sqrt(mpc::Decode(x(k, 0), kBits));
    const double relative = mpc::Decode(outcome.value(k, 0), kBits) / truth - 1;
    largest = std::max(largest, relative);
    smallest = std::min(smallest, relative);
  }
  // In exact integer arithmetic -0.89 % to -0.009 %; a unit of 2^-20 is 1.7e-5 of the smallest true value,
  // 0.058.
  EXPECT_LT(largest, -0.00009 + 2 * 1.7e-5);
  EXPECT_GT(smallest, -0.0089 - 4 * 1.7e-5);
}

}  // namespace
}  // namespace trefoil::protocols
