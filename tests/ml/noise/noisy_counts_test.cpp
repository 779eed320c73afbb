#include "ml/noise/noisy_counts.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "base/error.h"
#include "tests/support/fixed_key.h"
#include "tests/support/ml_test.h"

namespace trefoil::ml {
namespace {

using mpc::Index;
using mpc::RingMatrix;
using namespace testing_support;  // NOLINT(google-build-using-namespace): test helpers only

std::array<MeasuredPart<std::optional<RingMatrix>>, 3> Opened(const std::array<RingMatrix, 3>& own,
                                                              const std::array<RingMatrix, 3>& noise,
                                                              const std::vector<int>& to) {
  return RunParties(Seed{5}, [&](mpc::Context& party) {
    const auto self = static_cast<std::size_t>(party.self());
    MeasuredPart<std::optional<RingMatrix>> part;
    part.measured = protocols::Measure(
        party, [&] { part.value = OpenNoisyCounts(party, own.at(self), noise.at(self), to); });
    return part;
  });
}

TEST(OpenNoisyCounts, IsTheExactSumOfCountsAndNoiseOverAThousandRandomInputs) {
  constexpr Index kInputs = 1000;
  const std::array own{RandomSigned(1, kInputs, 1, 40), RandomSigned(2, kInputs, 1, 40),
                       RandomSigned(3, kInputs, 1, 40)};
  const std::array noise{RandomSigned(4, kInputs, 1, 50), RandomSigned(5, kInputs, 1, 3),
                         RandomSigned(6, kInputs, 1, 50)};
  const RingMatrix expected = own[0] + own[1] + own[2] + noise[0] + noise[1] + noise[2];
  for (const auto& to : {std::vector<int>{0, 1, 2}, {1}, {0, 2}}) {
    const auto parts = Opened(own, noise, to);
    for (int party = 0; party < 3; ++party) {
      const bool receives = std::find(to.begin(), to.end(), party) != to.end();
      const auto& opened = parts.at(static_cast<std::size_t>(party)).value;
      ASSERT_EQ(opened.has_value(), receives);
      if (opened) {
        EXPECT_TRUE((*opened == expected).all());
      }
    }
    EXPECT_EQ(Figures(parts), Figures(OpenNoisyCountsCost(kInputs, to)));
  }
}

TEST(OpenNoisyCounts, OfSharesIsTheExactSumWithNoiseAtTheDeclaredCost) {
  constexpr Index kInputs = 100;
  const RingMatrix counts = RandomSigned(1, kInputs, 1, 40);
  const std::array noise{RandomSigned(4, kInputs, 1, 50), RandomSigned(5, kInputs, 1, 3),
                         RandomSigned(6, kInputs, 1, 50)};
  const RingMatrix expected = counts + noise[0] + noise[1] + noise[2];
  for (const auto& to : {std::vector<int>{0, 1, 2}, {1}, {0, 2}}) {
    const auto parts = RunParties(Seed{5}, [&](mpc::Context& party) {
      const mpc::AdditiveShare shared = ToAdditive(InsecureDeal(party, counts));
      const auto& own = noise.at(static_cast<std::size_t>(party.self()));
      MeasuredPart<std::optional<RingMatrix>> part;
      part.measured =
          protocols::Measure(party, [&] { part.value = OpenNoisyCounts(party, shared, own, to); });
      return part;
    });
    for (int party = 0; party < 3; ++party) {
      const bool receives = std::find(to.begin(), to.end(), party) != to.end();
      const auto& opened = parts.at(static_cast<std::size_t>(party)).value;
      ASSERT_EQ(opened.has_value(), receives);
      if (opened) {
        EXPECT_TRUE((*opened == expected).all());
      }
    }
    EXPECT_EQ(Figures(parts), Figures(OpenSharedCountsCost(kInputs, to)));
  }
}

TEST(OpenNoisyCounts, RefusesNoiseOfAnotherShape) {
  EXPECT_THROW(RunParties(Seed{5},
                          [](mpc::Context& party) {
                            const mpc::AdditiveShare shared(RingMatrix::Zero(3, 1));
                            (void)OpenNoisyCounts(party, shared, RingMatrix::Zero(2, 1), {0});
                            return 0;
                          }),
               ContractError);
  EXPECT_THROW(RunParties(Seed{5},
                          [](mpc::Context& party) {
                            (void)OpenNoisyCounts(party, RingMatrix::Zero(3, 1), RingMatrix::Zero(2, 1), {0});
                            return 0;
                          }),
               ContractError);
}

// A part's law is tested in tests/dp/mechanisms/laplace_part_test.cpp; here that each count has noise of its
// own and of this rate.
TEST(LaplaceParts, AreIndependentPartsOfTheRate) {
  constexpr Index kCounts = 20'000;
  const dp::Ratio rate{1, 10};
  const StepNoise noise = LaplaceParts(RandomStream(FixedKey(3)), rate, kCounts);
  double sum = 0;
  double squares = 0;
  double products = 0;
  for (Index k = 0; k < kCounts; ++k) {
    const auto x = static_cast<double>(mpc::Signed(noise.values()(k, 0)));
    sum += x;
    squares += x * x;
    if (k > 0) products += x * static_cast<double>(mpc::Signed(noise.values()(k - 1, 0)));
  }
  // Half the variance of the discrete Laplace, 2 r / (1 - r)^2. Fourth moment of a part below 15 variance^2
  // (it is 12 + 3 in the limit of small rates), so its square deviates by less than sqrt(14) variances. Five
  // deviations each: a false alarm below one in a million (normal approximation).
  const double r = std::exp(-0.1);
  const double variance = r / ((1 - r) * (1 - r));
  const double n = kCounts;
  EXPECT_NEAR(sum / n, 0, 5 * std::sqrt(variance / n));
  EXPECT_NEAR(squares / n, variance, 5 * variance * std::sqrt(14 / n));
  EXPECT_NEAR(products / n, 0, 5 * variance / std::sqrt(n));
}

// Its law is tested in tests/dp/mechanisms/radial_laplace_part_test.cpp; here that it is drawn for a whole
// vector at once, and anew for the next. A part's variance is a sum of 101 exponential variables of mean 2 in
// scales: 202, with deviation 2 sqrt(101) = 20.1; with a variance for every coordinate the means of 400
// squares would deviate by less than 16 from it, with one for all by 25.
TEST(RadialLaplaceParts, HaveOneVarianceAVector) {
  constexpr Index kCoordinates = 400;
  constexpr int kVectors = 2000;
  const dp::RadialLaplacePart part(kCoordinates, 1e6, 1);
  double sum = 0;
  double squares = 0;
  for (int k = 0; k < kVectors; ++k) {
    SecretKey key = FixedKey(3);
    key.bytes()[0] = static_cast<std::uint8_t>(k);
    key.bytes()[1] = static_cast<std::uint8_t>(k >> 8);
    const StepNoise noise = RadialLaplaceParts(RandomStream(std::move(key)), part, kCoordinates);
    double mean = 0;
    for (Index i = 0; i < kCoordinates; ++i)
      mean += std::pow(static_cast<double>(mpc::Signed(noise.values()(i, 0))) / part.scale(), 2);
    mean /= kCoordinates;
    sum += mean;
    squares += mean * mean;
  }
  // Five standard errors, of a mean and of a variance (normal approximation: its own deviation is below 1.5
  // sqrt(2/n) of it): a false alarm below one in a million. Variance of the mean: that of the variance, 404,
  // and 2 E[V^2] / 400 = 206.
  const double mean = sum / kVectors;
  EXPECT_NEAR(mean, 202, 5 * std::sqrt(610.0 / kVectors));
  EXPECT_NEAR(squares / kVectors - mean * mean, 610, 5 * 610 * 1.5 * std::sqrt(2.0 / kVectors));
}

TEST(LaplaceParts, RefuseARateOfZero) {
  EXPECT_THROW((void)LaplaceParts(RandomStream(FixedKey(3)), {0, 1}, 1), ConfigError);
}

}  // namespace
}  // namespace trefoil::ml
