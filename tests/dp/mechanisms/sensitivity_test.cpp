#include "dp/mechanisms/sensitivity.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace trefoil::dp {
namespace {

// ||(x, 1)|| <= sqrt(3^2 + 4^2 - 1 + 1) = 5, ||e|| <= 2, c = 4 columns, u = 2^-10.
constexpr LinearContribution kExample{
    .frac_bits = 10, .row_norm = 4.898979485566356, .columns = 4, .error_norm = 2};
constexpr double kUnit = 1.0 / 1024;

TEST(RowBound, IncludesTheBias) { EXPECT_NEAR(RowBound(kExample), 5, 1e-9); }

TEST(SquaredGradientBound, IsTheProductOfTheSquaredNorms) {
  EXPECT_NEAR(SquaredGradientBound(kExample, 0), 100, 1e-8);
  EXPECT_NEAR(SquaredGradientBound(kExample, 0.5), 102, 1e-8);
}

TEST(WeightedErrorNorm, IsTheLargestWeightsAndTheRoundingOfEveryColumn) {
  EXPECT_NEAR(WeightedErrorNorm(kExample, 2.5), 5 + 2 * kUnit, 1e-9);
  EXPECT_GT(WeightedErrorNorm(kExample, 2.5), 5 + 2 * kUnit);
}

TEST(UnclippedSensitivity, IsTheProductOfTheNorms) { EXPECT_NEAR(UnclippedSensitivity(kExample), 10, 1e-9); }

TEST(FactorisedSensitivity, IsTheClipAndTheRoundingOfEveryColumn) {
  EXPECT_NEAR(FactorisedSensitivity(kExample, 3, 10), 3 + 5 * 2 * kUnit, 1e-9);
  EXPECT_NEAR(FactorisedSensitivity(kExample, 3, 4), 3 + 5.0 * 2 / 16, 1e-9);
}

TEST(FactorisedSensitivity, IsNotTheClipWhereNoGradientReachesIt) {
  EXPECT_NEAR(FactorisedSensitivity(kExample, 50, 10), 10 + 5 * 2 * kUnit, 1e-9);
}

TEST(FactorisedSensitivity, OfANetworkOfOneLayerIsThatOfALinearModel) {
  const std::vector<LayerContribution> one{{.input_norm = 5, .delta_norm = 2, .outputs = 4}};
  for (const double clip : {3.0, 50.0})
    EXPECT_NEAR(FactorisedSensitivity(one, 10, clip), FactorisedSensitivity(kExample, clip, 10), 1e-9);
  EXPECT_NEAR(SquaredGradientBound(one, 0), SquaredGradientBound(kExample, 0), 1e-8);
}

TEST(FactorisedSensitivity, OfANetworkAddsLayersInSquares) {
  const std::vector<LayerContribution> two{{.input_norm = 3, .delta_norm = 4, .outputs = 16},
                                           {.input_norm = 4, .delta_norm = 1.25, .outputs = 1}};
  EXPECT_NEAR(SquaredGradientBound(two, 0), 144 + 25, 1e-8);
  EXPECT_NEAR(SquaredGradientBound(two, 1), 10 * 17 + 17 * 2.5625, 1e-8);
  const double rounding = std::sqrt(9.0 * 16 + 16) * kUnit;
  EXPECT_NEAR(FactorisedSensitivity(two, 10, 100), 13 + rounding, 1e-9);
  EXPECT_NEAR(FactorisedSensitivity(two, 10, 7), 7 + rounding, 1e-9);
}

TEST(PublishedSensitivity, ChargesTheRootTheFactorAndEveryCoordinate) {
  // 25 coordinates: G = 10 + 5u, rho = sqrt(G^2 + 3u).
  const double root = std::sqrt(std::pow(10 + 5 * kUnit, 2) + 3 * kUnit);
  const double clipped = 3 * (1 + 0.01 + root * 2 * kUnit) + root * kUnit + 5 * kUnit;
  EXPECT_NEAR(PublishedSensitivity(kExample, 3, 25, 0.01, 2), clipped, 1e-9);
}

TEST(PublishedSensitivity, IsTheGradientItselfWhereNothingIsClipped) {
  EXPECT_NEAR(PublishedSensitivity(kExample, 50, 25, 0.01, 2), 10 + 10 * kUnit, 1e-9);
}

TEST(Sensitivity, IsNeverRoundedBelowTheFormula) {
  EXPECT_GT(UnclippedSensitivity({.frac_bits = 8, .row_norm = 0.75, .columns = 1, .error_norm = 1}), 1.25);
  EXPECT_GT(FactorisedSensitivity({.frac_bits = 8, .row_norm = 0.75, .columns = 1, .error_norm = 1}, 0.5, 8),
            0.5 + 1.25 / 256);
}

}  // namespace
}  // namespace trefoil::dp
