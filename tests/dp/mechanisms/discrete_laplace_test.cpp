#include "dp/mechanisms/discrete_laplace.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/error.h"
#include "tests/dp/chi_square.h"
#include "tests/dp/stream.h"

namespace trefoil::dp {
namespace {

struct DiscreteLaplaceCase {
  const char* name;
  std::uint64_t numerator, denominator;
  int reach;  ///< values beyond +-reach are counted together with it
};

class DiscreteLaplaceTest : public testing::TestWithParam<DiscreteLaplaceCase> {};

TEST_P(DiscreteLaplaceTest, HasItsLaw) {
  const auto& [name, numerator, denominator, reach] = GetParam();
  const double ratio = std::exp(-static_cast<double>(denominator) / static_cast<double>(numerator));
  std::vector<double> probabilities;
  for (int x = -reach; x <= reach; ++x) {
    const double tail = std::abs(x) == reach ? 1 / (1 - ratio) : 1;
    probabilities.push_back((1 - ratio) / (1 + ratio) * std::pow(ratio, std::abs(x)) * tail);
  }

  constexpr int kDraws = 400'000;
  const DiscreteLaplace laplace(numerator, denominator);
  auto stream = FixedStream(11);
  std::vector<std::size_t> counts(probabilities.size());
  for (int i = 0; i < kDraws; ++i) {
    const auto x = std::clamp(laplace.Sample(stream), Int128{-reach}, Int128{reach});
    ++counts[static_cast<std::size_t>(x + reach)];
  }

  ExpectFits(counts, probabilities, kDraws);
}

INSTANTIATE_TEST_SUITE_P(Scales, DiscreteLaplaceTest,
                         testing::Values(DiscreteLaplaceCase{"one", 1, 1, 9},
                                         DiscreteLaplaceCase{"eight", 8, 1, 60},
                                         DiscreteLaplaceCase{"thirteen", 13, 1, 90},
                                         DiscreteLaplaceCase{"five_halves", 5, 2, 20},
                                         DiscreteLaplaceCase{"a_third", 1, 3, 2}),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(DiscreteLaplace, IsTheContinuousOneAtALargeScale) {
  constexpr int kDraws = 400'000;
  const DiscreteLaplace laplace(std::uint64_t{1} << 57);
  auto stream = FixedStream(12);
  std::vector<std::size_t> counts(64);
  for (int i = 0; i < kDraws; ++i) {
    const double x = std::ldexp(static_cast<double>(laplace.Sample(stream)), -57);
    const double below = x < 0 ? std::exp(x) / 2 : 1 - std::exp(-x) / 2;
    ++counts[std::min<std::size_t>(63, static_cast<std::size_t>(64 * below))];
  }
  ExpectFits(counts, std::vector<double>(64, 1.0 / 64), kDraws);
}

TEST(DiscreteLaplace, RefusesAScaleOfZero) {
  EXPECT_THROW(DiscreteLaplace(0), ConfigError);
  EXPECT_THROW(DiscreteLaplace(1, 0), ConfigError);
}

}  // namespace
}  // namespace trefoil::dp
