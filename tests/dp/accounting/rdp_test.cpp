#include "dp/accounting/rdp.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "tests/dp/not_finite.h"
#include "tests/dp/reference_vectors.h"

namespace trefoil::dp {
namespace {

struct RdpFact {
  const char* name;
  double q, sigma, order, rdp;
};

std::string FactName(const testing::TestParamInfo<RdpFact>& info) { return info.param.name; }

class SampledGaussianRdpTest : public testing::TestWithParam<RdpFact> {};

TEST_P(SampledGaussianRdpTest, MatchesQuadratureTo40Digits) {
  const auto& fact = GetParam();
  EXPECT_NEAR(SampledGaussianRdp(fact.q, fact.sigma, fact.order), fact.rdp, 1e-9 * fact.rdp);
}

// Computed with mpmath, 40 digits, from the integral of Mironov, Talwar and Zhang (2019), section 3.
INSTANTIATE_TEST_SUITE_P(
    Facts, SampledGaussianRdpTest,
    testing::Values(RdpFact{"lowest_default_order", 0.01, 1, 1.1, 9.2414710846869586e-5},
                    RdpFact{"rare_sampling", 1e-6, 0.7, 1.5, 5.0226130062495126e-12},
                    RdpFact{"rare_sampling_much_noise", 1e-6, 50, 1.1, 2.2004400578801116e-16},
                    RdpFact{"rare_sampling_much_noise_integer", 1e-6, 50, 2, 4.000800106677333e-16},
                    RdpFact{"much_noise", 0.5, 100, 10.9, 0.00013628543360034429},
                    RdpFact{"more_noise", 0.05, 1000, 1.7, 2.1250010295628135e-9},
                    RdpFact{"moderate", 0.001, 5, 2.3, 4.693297118704733e-8},
                    RdpFact{"nearly_all_rows", 0.9, 0.5, 3.7, 7.2556201777407884},
                    RdpFact{"all_but_one_percent", 0.99, 2, 1.2, 0.14708845038524612},
                    RdpFact{"half_of_the_rows", 0.5, 0.5, 1.9, 2.4239735386300077},
                    RdpFact{"little_noise", 0.3, 0.1, 4.5, 223.45203496586663},
                    RdpFact{"least_noise_computed", 0.001, 0.05, 2.5, 488.48707453502972},
                    RdpFact{"little_noise_low_order", 1e-4, 0.2, 1.3, 0.0024148686522492402},
                    RdpFact{"rare_sampling_little_noise", 1e-9, 0.3, 2.5, 9.5066950051045243e-14},
                    RdpFact{"mnist_job", 0.034133333333333335, 1.3, 7.7, 0.0045972738722158407},
                    RdpFact{"high_fractional_order", 0.01, 1, 100.5, 45.598546696564792},
                    RdpFact{"highest_dense_order", 0.04, 1.5, 63, 10.729206823144095},
                    RdpFact{"highest_default_order", 0.2, 30, 1024, 0.028180746666501182},
                    RdpFact{"order_near_one", 0.02, 2, 1.0001, 5.6466783199447068e-5}),
    FactName);

TEST(SampledGaussianRdp, MatchesTheReferenceVectors) {
  const auto vectors = ReferenceVectors("accounting.json");
  for (const auto& row : vectors.at("rdp_per_step")) {
    const double expected = row.at("rdp");
    EXPECT_NEAR(SampledGaussianRdp(row.at("q"), row.at("sigma"), row.at("alpha")), expected, 1e-9 * expected)
        << row;
  }
}

/// The signed binomial series of Mironov, Talwar and Zhang (2019), section 3.3, for moderate parameters:
/// another way to the same number.
double SignedSeries(double q, double sigma, double order) {
  const double split = sigma * sigma * std::log(1 / q - 1) + 0.5;
  const auto half_erfc = [&](double x) { return std::erfc(x / (std::sqrt(2.0) * sigma)) / 2; };
  const auto moment = [&](double k) { return std::exp((k * k - k) / (2 * sigma * sigma)); };
  double sum = 0;
  double binomial = 1;
  for (int k = 0; k < 30; ++k) {
    const double rest = order - k;
    sum += binomial * std::pow(1 - q, rest) * std::pow(q, k) * moment(k) * half_erfc(k - split);
    sum += binomial * std::pow(1 - q, k) * std::pow(q, rest) * moment(rest) * half_erfc(split - rest);
    binomial *= rest / (k + 1);
  }
  return std::log(sum) / (order - 1);
}

TEST(SampledGaussianRdp, AgreesWithTheSignedSeries) {
  for (const double order : {3.5, 5.3, 7.9, 10.9}) {
    const double series = SignedSeries(0.04, 1.5, order);
    EXPECT_NEAR(SampledGaussianRdp(0.04, 1.5, order), series, 1e-8 * series) << order;
  }
}

TEST(SampledGaussianRdp, IsContinuousAcrossIntegerOrders) {
  for (const double order : {2.0, 3.0, 12.0, 63.0}) {
    for (const double sigma : {0.3, 1.0, 8.0}) {
      const double integer = SampledGaussianRdp(0.02, sigma, order);
      const double around =
          (SampledGaussianRdp(0.02, sigma, order - 1e-4) + SampledGaussianRdp(0.02, sigma, order + 1e-4)) / 2;
      EXPECT_NEAR(integer, around, 1e-6 * integer) << order << " " << sigma;
    }
  }
}

TEST(SampledGaussianRdp, FallsWithNoiseAndGrowsWithOrderAndRate) {
  for (const double order : {1.1, 1.5, 2.0, 7.3, 40.0}) {
    for (const double q : {1e-5, 0.01, 0.3, 0.999}) {
      double previous = kInfinity;
      for (double sigma = 0.011; sigma < 100; sigma *= 1.7) {
        const double rdp = SampledGaussianRdp(q, sigma, order);
        EXPECT_LE(rdp, previous);
        EXPECT_LE(rdp, SampledGaussianRdp(q, sigma, order + 0.35) * (1 + 1e-9));
        EXPECT_LE(rdp, SampledGaussianRdp(std::min(1.0, 1.5 * q), sigma, order) * (1 + 1e-9));
        EXPECT_LE(rdp, order / (2 * sigma * sigma) * (1 + 1e-12));
        previous = rdp;
      }
    }
  }
}

TEST(SampledGaussianRdp, HasTheRightEdges) {
  EXPECT_EQ(SampledGaussianRdp(0, 1, 2), 0);
  EXPECT_EQ(SampledGaussianRdp(0, 0, 2), 0);
  EXPECT_EQ(SampledGaussianRdp(0.1, 0, 2), kInfinity);
  EXPECT_DOUBLE_EQ(SampledGaussianRdp(1, 5, 3.5), 3.5 / 50);
  EXPECT_NEAR(SampledGaussianRdp(1 - 1e-12, 5, 3.5), 3.5 / 50, 1e-10);
  EXPECT_GE(SampledGaussianRdp(0.1, 1e-200, 2.5), 1e300);
  EXPECT_GE(SampledGaussianRdp(1e-300, 0.03, 1.001), 0);
  EXPECT_EQ(SampledGaussianRdp(0.1, 1, 1000.5), SampledGaussianRdp(0.1, 1, 1001));
}

TEST(SampledGaussianRdp, RefusesWhatIsOutsideItsDomain) {
  EXPECT_THROW((void)SampledGaussianRdp(-0.1, 1, 2), ConfigError);
  EXPECT_THROW((void)SampledGaussianRdp(1.1, 1, 2), ConfigError);
  EXPECT_THROW((void)SampledGaussianRdp(kNan, 1, 2), ConfigError);
  EXPECT_THROW((void)SampledGaussianRdp(0.1, -1, 2), ConfigError);
  EXPECT_THROW((void)SampledGaussianRdp(0.1, kNan, 2), ConfigError);
  EXPECT_THROW((void)SampledGaussianRdp(0.1, kInfinity, 2), ConfigError);
  EXPECT_THROW((void)SampledGaussianRdp(0.1, 1, 1), ConfigError);
  EXPECT_THROW((void)SampledGaussianRdp(0.1, 1, kNan), ConfigError);
}

TEST(DefaultRdpOrders, AreTheDocumentedOnes) {
  const auto orders = DefaultRdpOrders();
  EXPECT_EQ(orders.front(), 1.1);
  EXPECT_EQ(orders[98], 10.9);
  EXPECT_EQ(orders[99], 12);
  EXPECT_EQ(orders[150], 63);
  EXPECT_TRUE(std::is_sorted(orders.begin(), orders.end()));
}

TEST(RdpToEpsilon, IsNeverNegativeAndZeroForNothing) {
  const std::vector<double> orders{2, 8, 64};
  EXPECT_EQ(RdpToEpsilon(orders, std::vector<double>{0, 0, 0}, 1e-5).epsilon, 0);
  EXPECT_EQ(RdpToEpsilon(orders, std::vector<double>{1e-3, 1e-3, 1e-3}, 0.9).epsilon, 0);
}

TEST(RdpToEpsilon, TakesTheBestOrder) {
  const std::vector<double> orders{2, 8, 64};
  const auto best = RdpToEpsilon(orders, std::vector<double>{0.1, 0.4, kInfinity}, 1e-5);
  EXPECT_EQ(best.order, 8);
  EXPECT_NEAR(best.epsilon, 0.4 + std::log(7.0 / 8) - (std::log(1e-5) + std::log(8.0)) / 7, 1e-14);
}

TEST(RdpToEpsilon, IsInfiniteWithoutAGuarantee) {
  const auto none = RdpToEpsilon(std::vector<double>{2.0}, std::vector<double>{kInfinity}, 1e-5);
  EXPECT_EQ(none.epsilon, kInfinity);
  EXPECT_EQ(none.order, 0);
}

TEST(RdpToEpsilon, RefusesNanAndMismatch) {
  const std::vector<double> order{2.0};
  EXPECT_THROW((void)RdpToEpsilon(order, std::vector<double>{kNan}, 1e-5), ContractError);
  EXPECT_THROW((void)RdpToEpsilon(order, std::vector<double>{-1}, 1e-5), ContractError);
  EXPECT_THROW((void)RdpToEpsilon(order, std::vector<double>{}, 1e-5), ContractError);
  EXPECT_THROW((void)RdpToEpsilon(order, std::vector<double>{1}, 0), ConfigError);
  EXPECT_THROW((void)RdpToEpsilon(order, std::vector<double>{1}, 1), ConfigError);
  EXPECT_THROW((void)RdpToEpsilon(order, std::vector<double>{1}, kNan), ConfigError);
}

// The integral of p^order q^(1 - order) for two Laplace densities, by another way.
TEST(LaplaceRdp, MatchesItsIntegral) {
  const auto integral = [](double scale, double order) {
    // E over Q of (p/q)^order by the trapezoidal rule between the two peaks, exact outside.
    constexpr int kPoints = 200000;
    const double e = 1 / scale;
    double inside = 0;
    for (int i = 0; i <= kPoints; ++i) {
      const double z = static_cast<double>(i) / kPoints;
      const double weight = i == 0 || i == kPoints ? 0.5 : 1;
      inside += weight * std::exp(-order * z * e - (1 - order) * (1 - z) * e);
    }
    inside *= e / 2 / kPoints;
    return std::log(0.5 * std::exp((order - 1) * e) + 0.5 * std::exp(-order * e) + inside) / (order - 1);
  };
  for (const double scale : {0.5, 1.0, 10.0}) {
    for (const double order : {1.1, 2.0, 5.5, 30.0})
      EXPECT_NEAR(LaplaceRdp(scale, order), integral(scale, order), 1e-8 * integral(scale, order));
  }
}

TEST(LaplaceRdp, IsBelowPureDifferentialPrivacyAndFinite) {
  for (double scale = 1e-4; scale < 1e9; scale *= 7) {
    for (const double order : {1.0001, 1.5, 64.0, 1e5}) {
      const double rdp = LaplaceRdp(scale, order);
      EXPECT_GE(rdp, 0);
      EXPECT_LE(rdp, PureDpRdp(1 / scale, order));
    }
  }
  EXPECT_EQ(LaplaceRdp(0, 2), kInfinity);
  EXPECT_LT(LaplaceRdp(1, 2), 0.9 * PureDpRdp(1, 2));
}

TEST(PureDpRdp, IsThatOfRandomisedResponse) {
  // log((e^{order e} + e^{(1 - order) e}) / (1 + e^e)) / (order - 1).
  for (const double order : {1.5, 3.0, 20.0}) {
    for (const double e : {0.05, 0.5, 1.0, 7.0}) {
      const double response =
          std::log((std::exp(order * e) + std::exp((1 - order) * e)) / (1 + std::exp(e))) / (order - 1);
      EXPECT_NEAR(PureDpRdp(e, order), response, 1e-12);
      EXPECT_LE(PureDpRdp(e, order), std::min(order * e * e / 2, e));
    }
  }
  EXPECT_EQ(PureDpRdp(0, 100), 0);
  EXPECT_EQ(PureDpRdp(kInfinity, 2), kInfinity);
  // Nothing cancels and nothing overflows.
  EXPECT_NEAR(PureDpRdp(1e-9, 3), 1.5e-18, 1e-27);
  EXPECT_NEAR(PureDpRdp(1000, 1024), 1000, 1e-9);
  EXPECT_NEAR(PureDpRdp(100, 1.01), 100, 1e-9);
}

}  // namespace
}  // namespace trefoil::dp
