#include "dp/accounting/privacy_curve.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include <boost/math/special_functions/erf.hpp>

#include "dp/record/record.h"

namespace trefoil::dp {
namespace {

double NormalBelow(double x) { return std::erfc(-x / std::sqrt(2.0)) / 2; }

/// The trade-off curve of N(0, 1) against N(mu, 1).
double GaussianBeta(double mu, double alpha) {
  if (alpha == 0) return 1;
  if (alpha == 1) return 0;
  return NormalBelow(std::sqrt(2.0) * boost::math::erfc_inv(2 * alpha) - mu);
}

void ExpectShape(const PrivacyCurve& curve) {
  for (std::size_t i = 1; i < curve.points.size(); ++i) {
    const auto& [epsilon, delta] = curve.points[i];
    const auto& before = curve.points[i - 1];
    EXPECT_GT(epsilon, before.epsilon);
    EXPECT_LT(delta, before.delta);
    if (i + 1 == curve.points.size()) continue;
    const auto& after = curve.points[i + 1];
    const double slope = (before.delta - delta) / (std::exp(epsilon) - std::exp(before.epsilon));
    const double next = (delta - after.delta) / (std::exp(after.epsilon) - std::exp(epsilon));
    EXPECT_GE(slope, next * (1 - 1e-9)) << epsilon;
  }
  EXPECT_EQ(curve.tradeoff.front().alpha, 0);
  EXPECT_EQ(curve.tradeoff.back().alpha, 1);
  EXPECT_EQ(curve.tradeoff.back().beta, 0);
  for (std::size_t i = 1; i < curve.tradeoff.size(); ++i) {
    const auto& [alpha, beta] = curve.tradeoff[i];
    const auto& before = curve.tradeoff[i - 1];
    EXPECT_GT(alpha, before.alpha);
    EXPECT_LE(beta, before.beta);
    EXPECT_LE(beta, 1 - alpha);
    if (i + 1 == curve.tradeoff.size()) continue;
    const auto& after = curve.tradeoff[i + 1];
    EXPECT_LE((beta - after.beta) / (after.alpha - alpha),
              (before.beta - beta) / (alpha - before.alpha) * (1 + 1e-6) + 1e-6)
        << alpha;
  }
}

TEST(PrivacyCurve, OfPlainGaussiansIsBelowTheExactOneAndNearIt) {
  for (const double mu : {0.05, 0.5, 1.0, 2.0, 6.0}) {
    const auto curve = CurveOf({SampledGaussian{1, 2 / mu, 4}});
    ASSERT_TRUE(curve.mu);
    EXPECT_GE(*curve.mu, mu);
    EXPECT_NEAR(*curve.mu, mu, 1e-9);
    ExpectShape(curve);
    for (const auto& [alpha, beta] : curve.tradeoff) {
      const double exact = GaussianBeta(mu, alpha);
      EXPECT_LE(beta, exact) << mu << ' ' << alpha;
      EXPECT_GE(beta, exact - 0.002) << mu << ' ' << alpha;
    }
    for (const auto& [epsilon, delta] : curve.points) {
      const double exact =
          NormalBelow(-epsilon / mu + mu / 2) - std::exp(epsilon) * NormalBelow(-epsilon / mu - mu / 2);
      EXPECT_GE(delta, exact * (1 - 1e-9)) << mu << ' ' << epsilon;
      EXPECT_LE(delta, exact * (1 + 1e-6) + 1e-12) << mu << ' ' << epsilon;
    }
  }
}

// Every record of parts of discrete noise has a divergence, of 10^-270 or so: it has a mu all the same.
TEST(PrivacyCurve, OfARecordOfPlainGaussiansHasAMu) {
  const TrainingRecord record{
      .job_hash = "a",
      .run_id = "b",
      .events = {GaussianReleases{.count = 4, .coordinates = 16, .sigma = 2, .party_deviation = 1e5}}};
  for (const bool insider : {false, true}) {
    const auto events = insider ? InsiderEvents(record) : OutsiderEvents(record);
    const double mu = insider ? 1 : 1 / std::sqrt(1.5);
    const auto curve = CurveOf(events);
    ASSERT_TRUE(curve.mu);
    EXPECT_GE(*curve.mu, mu);
    EXPECT_NEAR(*curve.mu, mu, 1e-9);
  }
  const SampledGaussian noise{1, 2, 4};
  EXPECT_TRUE(CurveOf({noise, MaxDivergence{1e-250, 1000}}).mu);
  EXPECT_FALSE(CurveOf({noise, MaxDivergence{1e-99, 1}}).mu);
  EXPECT_FALSE(CurveOf({SampledGaussian{1, 0.04, 1}, MaxDivergence{1e-250, 1}}).mu);
  EXPECT_FALSE(CurveOf({noise, TotalVariation{1e-12, 1}}).mu);
  EXPECT_GE(*CurveOf({SampledGaussian{1, 1e7, 1}, MaxDivergence{1e-250, 1}}).mu, 1e-6);
}

long double ExactDelta(long double mu, long double epsilon) {
  const auto above = [](long double x) { return std::erfc(x / std::sqrt(2.0L)) / 2; };
  return above(epsilon / mu - mu / 2) - std::exp(epsilon) * above(epsilon / mu + mu / 2);
}

// The lemma behind it, at sizes that a long double tells from nothing: a density within e^(+-b) of one of mu
// has mu (1 + k) where b + 2 b (max(a, 0) + sqrt(2)) / mu <= k mu h(a'), h the normal density over its tail.
TEST(PrivacyCurve, OfADensityNearAGaussianIsThatOfALittleMoreMu) {
  constexpr long double kMore = 1e-3L;
  for (const long double mu : {0.05L, 0.5L, 1.0L, 3.0L, 6.0L}) {
    const long double larger = mu * (1 + kMore);
    for (long double epsilon = 0; epsilon < 6 * mu + mu * mu; epsilon += mu / 8) {
      const long double a = epsilon / mu - mu / 2;
      const long double nearer = epsilon / larger - larger / 2;
      const long double hazard = std::exp(-nearer * nearer / 2) / std::sqrt(2 * std::acos(-1.0L)) /
                                 (std::erfc(nearer / std::sqrt(2.0L)) / 2);
      const long double b = kMore * mu * hazard / (1 + 2 * (std::max(a, 0.0L) + std::sqrt(2.0L)) / mu);
      EXPECT_LE(std::exp(b) * ExactDelta(mu, epsilon - 2 * b), ExactDelta(larger, epsilon) * (1 + 1e-12L))
          << static_cast<double>(mu) << ' ' << static_cast<double>(epsilon);
    }
  }
}

/// The integral of (p - e^epsilon q)+ over the line, p the mixture and q N(0, sigma^2), or the other way
/// round.
double SampledDelta(double rate, double sigma, double epsilon, bool added) {
  constexpr double kStep = 0.002;
  double sum = 0;
  for (double x = -12 * sigma; x < 12 * sigma + 1; x += kStep) {
    const double plain = std::exp(-x * x / (2 * sigma * sigma));
    const double mixture = (1 - rate) * plain + rate * std::exp(-(x - 1) * (x - 1) / (2 * sigma * sigma));
    sum += std::max(0.0, added ? plain - std::exp(epsilon) * mixture : mixture - std::exp(epsilon) * plain);
  }
  return sum * kStep / (sigma * std::sqrt(2 * std::acos(-1.0)));
}

TEST(PrivacyCurve, OfASampledGaussianLiesAtTheHockeyStickDivergence) {
  for (const auto& [rate, sigma] : {std::pair{0.1, 1.0}, {0.5, 0.8}, {0.02, 2.0}}) {
    const auto curve = CurveOf({SampledGaussian{rate, sigma, 1}});
    EXPECT_FALSE(curve.mu);
    ExpectShape(curve);
    EXPECT_GT(curve.points.size(), 20U);
    EXPECT_EQ(curve.points.front().epsilon, 0);
    EXPECT_LE(curve.points.back().delta, 1e-11);
    for (const auto& [epsilon, delta] : curve.points) {
      const double exact =
          std::max(SampledDelta(rate, sigma, epsilon, false), SampledDelta(rate, sigma, epsilon, true));
      EXPECT_GE(delta, exact * (1 - 1e-4)) << rate << ' ' << epsilon;
      if (delta > 1e-8) {
        EXPECT_LE(delta, exact * 1.01 + 1e-7) << rate << ' ' << epsilon;
      }
    }
  }
}

TEST(PrivacyCurve, OfPureReleasesReachesDeltaZero) {
  const auto curve = CurveOf({PureDp{0.5, 2}});
  ExpectShape(curve);
  EXPECT_NEAR(curve.points.back().epsilon, 1, 1e-9);
  EXPECT_GE(curve.points.back().epsilon, 1);
  EXPECT_EQ(curve.points.back().delta, 0);
  const auto parts = CurveOf({ThreeLaplaceParts{0.5, 2}});
  ExpectShape(parts);
  EXPECT_EQ(parts.points.back().delta, 0);
  EXPECT_NEAR(parts.points.back().epsilon, 1, 1e-9);
  // Two randomised responses of ln(odds) 0.5 each: their exact curve is above that of one of 1.
  for (const auto& [alpha, beta] : curve.tradeoff)
    EXPECT_GE(beta, std::max(1 - std::exp(1) * alpha, std::exp(-1) * (1 - alpha)) - 1e-9);
}

TEST(PrivacyCurve, OfWhatFailsEndsAtTheFailuresProbability) {
  const auto curve = CurveOf({SampledGaussian{0.1, 1, 10}, IndependentFailure{1e-7, 10}});
  ExpectShape(curve);
  EXPECT_GT(curve.points.back().delta, 1e-6);
  EXPECT_LT(curve.points.back().delta, 2e-6);
  EXPECT_LT(curve.tradeoff.front().beta, 1 - 1e-6);
}

TEST(PrivacyCurve, OfNothingPromisesAllAndOfNoNoiseNothing) {
  const auto nothing = CurveOf({});
  EXPECT_EQ(nothing.points.front().epsilon, 0);
  EXPECT_EQ(nothing.points.back().delta, 0);
  for (const auto& [alpha, beta] : nothing.tradeoff) EXPECT_NEAR(beta, 1 - alpha, 1e-9);
  const auto bare = CurveOf({SampledGaussian{0.1, 0, 10}});
  EXPECT_TRUE(bare.points.empty());
  EXPECT_FALSE(bare.mu);
  for (const auto& point : bare.tradeoff) EXPECT_EQ(point.beta, 0);
}

}  // namespace
}  // namespace trefoil::dp
