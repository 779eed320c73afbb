#include "dp/mechanisms/laplace_part.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "base/error.h"
#include "tests/dp/chi_square.h"
#include "tests/dp/stream.h"

namespace trefoil::dp {
namespace {

constexpr int kPartDraws = 400'000;

/// The law of a negative binomial, by its own recurrence, far into its tail.
std::vector<double> NegativeBinomial(double shape, double rate) {
  std::vector<double> law{std::pow(1 - std::exp(-rate), shape)};
  while (static_cast<double>(law.size()) < 60 / rate + 60) {
    const auto k = static_cast<double>(law.size());
    law.push_back(law.back() * (shape + k - 1) / k * std::exp(-rate));
  }
  return law;
}

/// The law of the difference of two of them: index i is the value i - reach, tails added to the ends.
std::vector<double> Difference(const std::vector<double>& law, int reach) {
  std::vector<double> difference(static_cast<std::size_t>(2 * reach + 1));
  for (std::size_t h = 0; h < law.size(); ++h) {
    double mass = 0;
    for (std::size_t k = 0; k + h < law.size(); ++k) mass += law[k] * law[k + h];
    const auto cell = std::min(static_cast<std::size_t>(reach), h);
    difference[static_cast<std::size_t>(reach) + cell] += mass;
    if (h > 0) difference[static_cast<std::size_t>(reach) - cell] += mass;
  }
  return difference;
}

/// Neighbouring cells are put together until each has a thousandth of the mass.
struct Cells {
  std::vector<std::size_t> cell_of;
  std::vector<double> probabilities;

  explicit Cells(const std::vector<double>& law) : cell_of(law.size()) {
    double mass = 0;
    for (std::size_t k = 0; k < law.size(); ++k) {
      mass += law[k];
      cell_of[k] = probabilities.size();
      if (mass < 1e-3) continue;
      probabilities.push_back(mass);
      mass = 0;
    }
    if (probabilities.empty()) probabilities.push_back(0);
    probabilities.back() += mass;
    for (auto& cell : cell_of) cell = std::min(cell, probabilities.size() - 1);
  }
};

struct LaplacePartCase {
  const char* name;
  Ratio rate;
};

class LaplacePartTest : public testing::TestWithParam<LaplacePartCase> {};

TEST_P(LaplacePartTest, HalvesAreNegativeBinomialsOfShapeOneHalf) {
  const auto rate = GetParam().rate;
  const Cells cells(NegativeBinomial(0.5, rate.value()));
  auto stream = FixedStream(31);
  std::vector<std::size_t> counts(cells.probabilities.size());
  for (int i = 0; i < kPartDraws; ++i)
    ++counts[cells.cell_of[std::min<std::size_t>(SampleHalfGeometric(stream, rate),
                                                 cells.cell_of.size() - 1)]];
  ExpectFits(counts, cells.probabilities, kPartDraws);
}

TEST_P(LaplacePartTest, TwoPartsAreDiscreteLaplaceAndThreeAreShapeThreeHalves) {
  const auto rate = GetParam().rate;
  const LaplacePart part(rate);
  for (const int parts : {1, 2, 3}) {
    const int reach = static_cast<int>(std::ceil(4 / rate.value()));
    auto law = Difference(NegativeBinomial(parts / 2.0, rate.value()), reach);
    if (parts == 2) {  // the closed form, which is what the promise is about
      const double ratio = std::exp(-rate.value());
      for (int x = -reach; x <= reach; ++x) {
        const double tail = std::abs(x) == reach ? 1 / (1 - ratio) : 1;
        const double exact = (1 - ratio) / (1 + ratio) * std::pow(ratio, std::abs(x)) * tail;
        auto& mass = law[static_cast<std::size_t>(x + reach)];
        ASSERT_NEAR(mass, exact, 1e-12);
        mass = exact;
      }
    }
    const Cells cells(law);
    auto stream = FixedStream(static_cast<std::uint8_t>(40 + parts));
    std::vector<std::size_t> counts(cells.probabilities.size());
    for (int i = 0; i < kPartDraws; ++i) {
      std::int64_t sum = 0;
      for (int j = 0; j < parts; ++j) sum += part.Sample(stream);
      sum = std::clamp<std::int64_t>(sum, -reach, reach);
      ++counts[cells.cell_of[static_cast<std::size_t>(sum + reach)]];
    }
    ExpectFits(counts, cells.probabilities, kPartDraws);
  }
}

INSTANTIATE_TEST_SUITE_P(Rates, LaplacePartTest,
                         testing::Values(LaplacePartCase{"one", {1, 1}}, LaplacePartCase{"three", {3, 1}},
                                         LaplacePartCase{"two_sevenths", {2, 7}},
                                         LaplacePartCase{"a_twentieth", {1, 20}},
                                         LaplacePartCase{"three_hundredths", {3, 100}}),
                         [](const auto& info) { return std::string(info.param.name); });

// Walks of thousands of coins, most of them taken by the word.
TEST(SampleHalfGeometric, HasItsLawAtASmallRate) {
  const Ratio rate{1, 3000};
  const Cells cells(NegativeBinomial(0.5, rate.value()));
  constexpr int kFewerDraws = 100'000;
  auto stream = FixedStream(33);
  std::vector<std::size_t> counts(cells.probabilities.size());
  for (int i = 0; i < kFewerDraws; ++i)
    ++counts[cells.cell_of[std::min<std::size_t>(SampleHalfGeometric(stream, rate),
                                                 cells.cell_of.size() - 1)]];
  ExpectFits(counts, cells.probabilities, kFewerDraws);
}

TEST(LaplacePartsQuantile, IsTheLeastThatHoldsTheLevel) {
  // The discrete Laplace beyond h: 2 r^(h+1) / (1 + r).
  for (const double rate : {0.01, 0.1, 1.0}) {
    const auto ratio = EpsilonBelow(rate);
    const double r = std::exp(-ratio.value());
    const auto outside = [&](std::int64_t h) {
      return 2 * std::pow(r, static_cast<double>(h + 1)) / (1 + r);
    };
    const auto h = LaplacePartsQuantile(ratio, 2, 0.95);
    EXPECT_LE(outside(h), 0.05);
    EXPECT_GT(outside(h - 1), 0.05);
  }
  // At a small rate by the scaled table: not below the exact one, and hardly above.
  const auto small = EpsilonBelow(1e-4);
  const double exact = -std::log(0.05) / small.value();
  const auto h = static_cast<double>(LaplacePartsQuantile(small, 2, 0.95));
  EXPECT_GE(h, exact - 1);
  EXPECT_LE(h, 1.015 * exact);
}

TEST(LaplacePartsQuantile, GrowsWithThePartsAndCoversSamples) {
  const auto rate = EpsilonBelow(0.05);
  const LaplacePart part(rate);
  const auto h = LaplacePartsQuantile(rate, 3, 0.95);
  EXPECT_GT(h, LaplacePartsQuantile(rate, 2, 0.95));
  auto stream = FixedStream(34);
  int within = 0;
  for (int i = 0; i < kPartDraws; ++i)
    within += std::abs(part.Sample(stream) + part.Sample(stream) + part.Sample(stream)) <= h ? 1 : 0;
  // Five deviations of a share of 0.95 (false alarm below one in a million), and what one unit of h adds.
  const double tolerance = 5 * std::sqrt(0.95 * 0.05 / kPartDraws);
  EXPECT_GE(within / double{kPartDraws}, 0.95 - tolerance);
  EXPECT_LE(within / double{kPartDraws}, 0.95 + 0.05 * 0.05 + tolerance);
}

TEST(LaplacePartsMargin, IsAboveTheExactOneByAFewScalesAtMost) {
  // The exact law: three parts are the difference of two negative binomials of shape 3/2.
  const auto rate = EpsilonBelow(0.05);
  const double r = std::exp(-rate.value());
  std::vector<double> law{std::pow(1 - r, 1.5)};
  for (int k = 0; k < 4000; ++k) law.push_back(law.back() * (1.5 + k) / (k + 1) * r);
  const auto above = [&](std::int64_t m) {
    double tail = 0;
    std::vector<double> below(law.size() + 1, 0);
    for (std::size_t k = 0; k < law.size(); ++k) below[k + 1] = below[k] + law[k];
    for (auto plus = static_cast<std::size_t>(m) + 1; plus < law.size(); ++plus) {
      tail += law[plus] * below[plus - static_cast<std::size_t>(m)];
    }
    return tail;
  };
  for (const double failure : {1e-3, 1e-6, 1e-10}) {
    const auto margin = LaplacePartsMargin(rate, failure);
    EXPECT_LE(above(margin), failure);
    EXPECT_GT(above(margin - static_cast<std::int64_t>(5 / rate.value())), failure);
  }
  EXPECT_THROW((void)LaplacePartsMargin(rate, 0), ContractError);
}

TEST(EpsilonBelow, IsNeverAbove) {
  for (const double epsilon : {0x1p-20, 0.1, 1.0, std::log(3.0), 17.3, 1024.0}) {
    EXPECT_LE(EpsilonBelow(epsilon).value(), epsilon);
    EXPECT_GE(EpsilonBelow(epsilon).value(), epsilon - 0x1p-32);
  }
  for (const double epsilon : {0.0, -1.0, 0x1p-21, 1025.0, std::nan("")})
    EXPECT_THROW((void)EpsilonBelow(epsilon), ConfigError);
}

TEST(LaplacePart, RefusesRatesThatAreNoneOrTooSmall) {
  EXPECT_THROW(LaplacePart({0, 1}), ConfigError);
  EXPECT_THROW(LaplacePart({1, 0}), ConfigError);
  EXPECT_THROW(LaplacePart({1, (1 << 20) + 1}), ConfigError);
  EXPECT_NO_THROW(LaplacePart({1, 1 << 20}));
}

}  // namespace
}  // namespace trefoil::dp
