#include "dp/mechanisms/bernoulli.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/dp/stream.h"

namespace trefoil::dp {
namespace {

// Tolerances are five standard deviations of a binomial: each check fails for about one seed in 1.7 million.
void ExpectProportion(int hits, int draws, double probability) {
  EXPECT_NEAR(hits, draws * probability, 5 * std::sqrt(draws * probability * (1 - probability)) + 1e-9);
}

TEST(BitWidth, AgreesForAllTypes) {
  for (unsigned bits = 0; bits < 128; ++bits) {
    const Uint128 power = Uint128{1} << bits;
    EXPECT_EQ(BitWidth(power), bits + 1);
    EXPECT_EQ(BitWidth(Uint256{power}), bits + 1);
    EXPECT_EQ(BitWidth(static_cast<Uint128>(power - 1)), bits);
    EXPECT_EQ(BitWidth(Uint256{power} - 1), bits);
    if (bits < 64) {
      EXPECT_EQ(BitWidth(static_cast<std::uint64_t>(power)), bits + 1);
    }
  }
  EXPECT_EQ(BitWidth(Uint256{1} << 255), 256U);
}

TEST(UniformBelow, IsUniformWhereAModuloWouldNotBe) {
  auto stream = FixedStream(1);
  // A word modulo 3 * 2^62 falls into the lower half with probability 5/8.
  const std::uint64_t bound = std::uint64_t{3} << 62;
  constexpr int kDraws = 100'000;
  int lower = 0;
  for (int i = 0; i < kDraws; ++i) lower += UniformBelow(stream, bound) < bound / 2;
  ExpectProportion(lower, kDraws, 0.5);
}

TEST(UniformBelow, ReachesEveryValueEquallyAndOnlyThose) {
  auto stream = FixedStream(2);
  constexpr int kDraws = 70'000;
  std::vector<int> counts(7);
  for (int i = 0; i < kDraws; ++i) ++counts.at(UniformBelow<std::uint64_t>(stream, 7));
  for (const int count : counts) ExpectProportion(count, kDraws, 1.0 / 7);
  EXPECT_EQ(UniformBelow<std::uint64_t>(stream, 1), 0U);
}

TEST(UniformBelow, SetsEveryBitOfAWideNumber) {
  auto stream = FixedStream(3);
  constexpr int kDraws = 10'000;
  std::vector<int> ones(200);
  for (int i = 0; i < kDraws; ++i) {
    const auto value = UniformBelow(stream, Uint256{1} << 200);
    for (unsigned bit = 0; bit < 200; ++bit) ones[bit] += bit_test(value, bit) ? 1 : 0;
  }
  for (const int count : ones) ExpectProportion(count, kDraws, 0.5);
}

TEST(BernoulliExpMinusOne, HasItsProbability) {
  auto stream = FixedStream(4);
  constexpr int kDraws = 1'000'000;
  int hits = 0;
  for (int i = 0; i < kDraws; ++i) hits += BernoulliExpMinusOne(stream);
  ExpectProportion(hits, kDraws, std::exp(-1.0));
}

struct BernoulliCase {
  const char* name;
  std::uint64_t numerator, denominator;
};

class BernoulliExpTest : public testing::TestWithParam<BernoulliCase> {};

TEST_P(BernoulliExpTest, HasItsProbability) {
  const auto& [name, numerator, denominator] = GetParam();
  auto stream = FixedStream(5);
  constexpr int kDraws = 400'000;
  int hits = 0;
  for (int i = 0; i < kDraws; ++i) hits += BernoulliExp(stream, numerator, denominator);
  ExpectProportion(hits, kDraws,
                   std::exp(-static_cast<double>(numerator) / static_cast<double>(denominator)));
}

TEST_P(BernoulliExpTest, AgreesForAllTypesCoinByCoin) {
  const auto& [name, numerator, denominator] = GetParam();
  auto narrow = FixedStream(6);
  auto middle = FixedStream(6);
  auto wide = FixedStream(6);
  for (int i = 0; i < 20'000; ++i) {
    const bool coin = BernoulliExp(narrow, numerator, denominator);
    ASSERT_EQ(coin, BernoulliExp(middle, Uint128{numerator}, Uint128{denominator}));
    ASSERT_EQ(coin, BernoulliExp(wide, Uint256{numerator}, Uint256{denominator}));
  }
  EXPECT_EQ(narrow.NextWord(), wide.NextWord());
}

INSTANTIATE_TEST_SUITE_P(Exponents, BernoulliExpTest,
                         testing::Values(BernoulliCase{"zero", 0, 1}, BernoulliCase{"a_tenth", 1, 10},
                                         BernoulliCase{"two_thirds", 2, 3}, BernoulliCase{"one", 1, 1},
                                         BernoulliCase{"just_above_one", 1001, 1000},
                                         BernoulliCase{"seven_thirds", 7, 3}, BernoulliCase{"eight", 8, 1},
                                         BernoulliCase{"large_numbers", std::uint64_t{1} << 60,
                                                       (std::uint64_t{1} << 61) + 12345}),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(BernoulliExp, AgreesBeyond64BitsAndHasItsProbability) {
  const Uint128 denominator = (Uint128{0x123456789ABCDEF} << 60) + 987654321;
  const Uint128 numerator = denominator / 3 * 2 + 12345;
  auto middle = FixedStream(7);
  auto wide = FixedStream(7);
  constexpr int kDraws = 100'000;
  int hits = 0;
  for (int i = 0; i < kDraws; ++i) {
    const bool coin = BernoulliExp(middle, numerator, denominator);
    ASSERT_EQ(coin, BernoulliExp(wide, Uint256{numerator}, Uint256{denominator}));
    hits += coin;
  }
  ExpectProportion(hits, kDraws, std::exp(-2.0 / 3));
}

}  // namespace
}  // namespace trefoil::dp
