#include "dp/laws/grid_law.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "dp/accounting/analytic_gaussian.h"

namespace trefoil::dp {
namespace {

/// The hockey-stick divergence at epsilon.
double Delta(const GridLaw& law, double epsilon) {
  double delta = law.infinite;
  for (std::size_t i = 0; i < law.mass.size(); ++i) {
    if (law.LossAt(i) > epsilon) delta += law.mass[i] * -std::expm1(epsilon - law.LossAt(i));
  }
  return delta;
}

double Mass(const GridLaw& law) {
  double sum = law.infinite;
  for (const double mass : law.mass) sum += mass;
  return sum;
}

/// P[N(0, 1) > x].
double NormalTail(double x) { return std::erfc(x / std::sqrt(2.0)) / 2; }

/// sup over sets of P - e^epsilon Q, for the sampled Gaussian, with the record in P (remove) or in Q (add):
/// the likelihood ratio is monotone, so that the best set is a half line.
double ExactDelta(double q, double sigma, Neighbour neighbour, double epsilon) {
  const bool remove = neighbour == Neighbour::kRemove;
  const double ratio = std::exp(remove ? epsilon : -epsilon);  // of the mixture's density to N(0, 1)'s
  if (ratio <= 1 - q) return remove ? 1 - std::exp(epsilon) : 0;
  const double at = sigma * std::log((ratio - (1 - q)) / q) + 0.5 / sigma;  // noise over sigma
  const double mixture_above = (1 - q) * NormalTail(at) + q * NormalTail(at - 1 / sigma);
  const double mixture_below = (1 - q) * NormalTail(-at) + q * NormalTail(1 / sigma - at);
  return remove ? mixture_above - std::exp(epsilon) * NormalTail(at)
                : NormalTail(-at) - std::exp(epsilon) * mixture_below;
}

struct Setting {
  double q, sigma, width;
};

class GridLawTest : public testing::TestWithParam<Setting> {};

TEST_P(GridLawTest, BracketsTheExactDivergence) {
  const auto& [q, sigma, width] = GetParam();
  for (const auto neighbour : {Neighbour::kRemove, Neighbour::kAdd}) {
    const auto bounds = Discretise(LossOf(SampledGaussian{q, sigma, 1}, neighbour, 1e-15), width);
    EXPECT_NEAR(Mass(bounds.upper), 1, 1e-11);
    EXPECT_LE(Mass(bounds.lower), 1 + 1e-11);
    EXPECT_GE(Mass(bounds.lower), 1 - 1e-11);
    double closest = 1;
    for (double epsilon = 0; epsilon < 3; epsilon += 0.037) {
      const double exact = ExactDelta(q, sigma, neighbour, epsilon);
      const double upper = Delta(bounds.upper, epsilon);
      const double lower = Delta(bounds.lower, epsilon);
      EXPECT_GE(upper, exact * (1 - 1e-9) - 1e-15) << epsilon;
      EXPECT_LE(lower, exact * (1 + 1e-9) + 1e-15) << epsilon;
      if (exact > 0) closest = std::min(closest, (upper - lower) / exact);
    }
    EXPECT_LT(closest, 0.2) << "the bounds are of no use";
  }
}

INSTANTIATE_TEST_SUITE_P(Settings, GridLawTest,
                         testing::Values(Setting{0.01, 1, 1e-4}, Setting{0.01, 1, 3e-3},
                                         Setting{0.3, 0.5, 1e-3}, Setting{0.9, 2, 0.01}, Setting{1, 1, 0.01},
                                         Setting{0.5, 0.3, 0.02}, Setting{1e-4, 0.8, 1e-5}));

// Tails of a thousandth, so that what is cut off shows at every epsilon: at those beyond the grid it is all
// there is.
TEST(GridLaw, ChargesTheTailsThatAreCutOff) {
  for (const auto neighbour : {Neighbour::kRemove, Neighbour::kAdd}) {
    const auto law = LossOf(SampledGaussian{0.6, 0.7, 1}, neighbour, 1e-3);
    const auto bounds = Discretise(law, 0.01);
    EXPECT_GE(Mass(bounds.upper), 1);
    EXPECT_GE(Mass(bounds.upper) - bounds.upper.infinite,
              1 - NormalTail(-law.from));  // the lower tail is in it
    EXPECT_LE(Mass(bounds.lower), 1);
    for (double epsilon = 0; epsilon < law.at(law.to).loss + 1; epsilon += 0.03) {
      const double exact = ExactDelta(0.6, 0.7, neighbour, epsilon);
      EXPECT_GE(Delta(bounds.upper, epsilon), exact * (1 - 1e-9)) << epsilon;
      EXPECT_LE(Delta(bounds.lower, epsilon), exact * (1 + 1e-9)) << epsilon;
    }
  }
}

TEST(GridLaw, KeepsTheMeanLikelihoodRatio) {
  const auto bounds = Discretise(LossOf(SampledGaussian{0.2, 1, 1}, Neighbour::kRemove, 1e-15), 0.01);
  for (const auto* law : {&bounds.upper, &bounds.lower}) {
    double sum = 0;
    for (std::size_t i = 0; i < law->mass.size(); ++i) sum += law->mass[i] * std::exp(-law->LossAt(i));
    EXPECT_NEAR(sum, 1, 1e-9);
  }
}

TEST(GridLaw, BracketsLaplaceAndPureDifferentialPrivacy) {
  // Exact: Laplace of scale b has delta(e) = 1 - exp((e - 1/b) / 2) below 1/b; randomised response of e0 has
  // (exp(e0) - exp(e)) / (1 + exp(e0)).
  const auto laplace = Discretise(LossOf(Laplace{0.7, 1}), 0.003);
  const auto pure = Discretise(LossOf(PureDp{0.8, 1}), 0.003);
  for (double epsilon = 0; epsilon < 1.6; epsilon += 0.05) {
    const double exact = std::max(0.0, -std::expm1((epsilon - 1 / 0.7) / 2));
    EXPECT_GE(Delta(laplace.upper, epsilon), exact - 1e-14);
    EXPECT_LE(Delta(laplace.lower, epsilon), exact + 1e-14);
    EXPECT_LE(Delta(laplace.upper, epsilon) - Delta(laplace.lower, epsilon), 0.003);
    const double response = std::max(0.0, (std::exp(0.8) - std::exp(epsilon)) / (1 + std::exp(0.8)));
    EXPECT_GE(Delta(pure.upper, epsilon), response - 1e-14);
    EXPECT_LE(Delta(pure.lower, epsilon), response + 1e-14);
    EXPECT_LE(Delta(pure.upper, epsilon) - Delta(pure.lower, epsilon), 0.003);
  }
}

TEST(GridLaw, AgreesWithTheAnalyticGaussian) {
  const auto bounds = Discretise(LossOf(SampledGaussian{1, 2, 1}, Neighbour::kRemove, 1e-15), 0.002);
  const double epsilon = AnalyticGaussianEpsilon(2, 1e-5);
  EXPECT_NEAR(Delta(bounds.upper, epsilon), 1e-5, 1e-8);
  EXPECT_NEAR(Delta(bounds.lower, epsilon), 1e-5, 1e-8);
}

TEST(GridLaw, RefusesAWidthOfNothing) {
  EXPECT_THROW((void)Discretise(LossOf(PureDp{1, 1}), 0), ContractError);
}

}  // namespace
}  // namespace trefoil::dp
