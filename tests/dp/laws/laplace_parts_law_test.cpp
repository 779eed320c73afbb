#include "dp/laws/laplace_parts_law.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "base/error.h"
#include "dp/accounting/accountant.h"
#include "dp/accounting/rdp.h"
#include "dp/losses/pld_accountant.h"
#include "dp/mechanisms/discrete_laplace.h"
#include "dp/mechanisms/laplace_part.h"
#include "tests/dp/stream.h"

namespace trefoil::dp {
namespace {

constexpr double kDelta = 1e-5;

/// P[x], x from 0 on, of the difference of two negative binomials of this shape, by the sum over all ways to
/// get it: nothing that the code under test uses.
std::vector<double> Differences(double rate, double shape, std::size_t count) {
  const auto terms = static_cast<std::size_t>(60 / rate) + 60;
  std::vector<double> single{std::pow(-std::expm1(-rate), shape)};
  for (std::size_t n = 1; n < terms + count; ++n) {
    const auto k = static_cast<double>(n);
    single.push_back(single.back() * std::exp(-rate) * (k - 1 + shape) / k);
  }
  std::vector<double> law;
  for (std::size_t x = 0; x < count; ++x) {
    double sum = 0;
    for (std::size_t n = 0; n < terms; ++n) sum += single[n] * single[n + x];
    law.push_back(sum);
  }
  return law;
}

// Three parts against the sum over all ways, and two parts as a check of that sum: discrete Laplace noise.
TEST(ThreePartsResponses, AreOfTheLawOfThreeParts) {
  for (const double rate : {0.02, 0.05, 0.3, 1.0, 4.0}) {
    SCOPED_TRACE(rate);
    const std::size_t count = 60;
    const double r = std::exp(-rate);
    const auto two = Differences(rate, 1, count + 1);
    for (std::size_t x = 0; x < count; ++x)
      EXPECT_NEAR(two[x], (1 - r) / (1 + r) * std::exp(-rate * static_cast<double>(x)), 1e-13);
    const auto law = Differences(rate, 1.5, count + 1);
    const auto responses = ThreePartsResponses(rate);
    double all = 0;
    for (std::size_t x = 0; x < responses.size(); ++x) {
      all += responses[x].weight;
      EXPECT_LE(responses[x].epsilon, rate);
      EXPECT_GE(responses[x].epsilon, x == 0 ? 0 : responses[x - 1].epsilon * (1 - 1e-14));
      if (x >= count || x + 1 == responses.size() || law[x + 1] < 1e-200) continue;
      EXPECT_NEAR(responses[x].weight, law[x] + law[x + 1], 1e-11 * law[x]);
      EXPECT_NEAR(responses[x].epsilon, std::log(law[x] / law[x + 1]), 1e-10);
    }
    EXPECT_NEAR(all, 1, 1e-12);
  }
  for (const double rate : {kMinPartsRate / 2, kLargestPartsRate * 2}) {
    ASSERT_EQ(ThreePartsResponses(rate).size(), 1U);
    EXPECT_EQ(ThreePartsResponses(rate)[0].epsilon, rate);
  }
  EXPECT_THROW((void)ThreePartsResponses(0), ContractError);
}

// The law is that of the sampler, three parts of which are summed: P[sum = 0] and P[|sum| = 1]. A binomial
// count of 200,000 draws is beyond 5.5 deviations with probability below 4e-8.
TEST(ThreePartsResponses, AreOfWhatThePartiesDraw) {
  constexpr int kDraws = 200'000;
  auto stream = FixedStream(53);
  const Ratio rate{.numerator = 1, .denominator = 2};
  const LaplacePart part(rate);
  std::vector<int> seen(3);
  for (int i = 0; i < kDraws; ++i) {
    const auto sum = std::abs(part.Sample(stream) + part.Sample(stream) + part.Sample(stream));
    if (sum < 3) ++seen[static_cast<std::size_t>(sum)];
  }
  const auto responses = ThreePartsResponses(rate.value());
  double p = responses[0].weight / (1 + std::exp(-responses[0].epsilon));
  for (std::size_t x = 0; x < seen.size(); ++x) {
    const double expected = x == 0 ? p : 2 * p;
    EXPECT_NEAR(seen[x], kDraws * expected, 5.5 * std::sqrt(kDraws * expected * (1 - expected)));
    p *= std::exp(-responses[x].epsilon);
  }
}

/// The exact divergence of the noise from itself one step on.
double Renyi(const std::vector<double>& law, double order) {
  const auto last = static_cast<std::ptrdiff_t>(law.size()) - 2;
  const auto at = [&](std::ptrdiff_t x) { return law[static_cast<std::size_t>(std::abs(x))]; };
  double sum = 0;
  for (std::ptrdiff_t x = -last; x <= last; ++x)
    sum += at(x) * std::exp((order - 1) * std::log(at(x) / at(x - 1)));
  return std::log(sum) / (order - 1);
}

TEST(ThreeLaplacePartsRdp, IsTheExactDivergenceAndBelowThatOfTwoParts) {
  const std::vector<double> orders{1.1, 2, 8, 40};
  for (const double rate : {0.05, 0.5, 2.0}) {
    const auto law = Differences(rate, 1.5, static_cast<std::size_t>(80 / rate) + 40);
    const auto two = Differences(rate, 1, static_cast<std::size_t>(80 / rate) + 40);
    const auto found = ThreeLaplacePartsRdp(rate, orders);
    for (std::size_t i = 0; i < orders.size(); ++i) {
      EXPECT_NEAR(found[i], Renyi(law, orders[i]), 1e-9);
      EXPECT_NEAR(PureDpRdp(rate, orders[i]), Renyi(two, orders[i]), 1e-9);
      EXPECT_LT(found[i], PureDpRdp(rate, orders[i]));
    }
  }
  // Beyond the range of the law: as two parts.
  EXPECT_EQ(ThreeLaplacePartsRdp(100, orders)[1], PureDpRdp(100, 2));
}

/// delta at `epsilon` of `count` randomised responses, by the binomial law of how many are true.
double BinomialDelta(std::int64_t count, double rate, double epsilon) {
  const double n = static_cast<double>(count);
  double delta = 0;
  for (double k = 0; k <= n; ++k) {
    const double loss = (2 * k - n) * rate;
    if (loss <= epsilon) continue;
    const double log_mass = std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1) -
                            k * std::log1p(std::exp(-rate)) - (n - k) * std::log1p(std::exp(rate));
    delta += std::exp(log_mass) * -std::expm1(epsilon - loss);
  }
  return delta;
}

double ExactEpsilon(std::int64_t count, double rate) {
  double low = 0;
  double high = static_cast<double>(count) * rate;
  for (int i = 0; i < 100; ++i) {
    const double middle = (low + high) / 2;
    (BinomialDelta(count, rate, middle) > kDelta ? low : high) = middle;
  }
  return high;
}

template <typename Accountant, typename Event>
double EpsilonOf(const Event& event) {
  Accountant accountant;
  accountant.Add(event);
  return accountant.Epsilon(kDelta).epsilon;
}

// A thousand queries at rate 1/20, each of which moves two counts: 11.47 for who knows one part, 7.03 for who
// knows none. Then others: 200 at 1/10, and 40 at 1/2.
TEST(LaplaceParts, CostWhatTheirLawsSay) {
  struct Case {
    std::int64_t queries;
    double rate;
    double insider;
    double outsider;
  };
  for (const auto& [queries, rate, insider, outsider] :
       {Case{1000, 0.05, 11.47, 7.03}, Case{200, 0.1, 9.94, 6.14}, Case{40, 0.5, 26.67, 16.61}}) {
    const double two = EpsilonOf<PldAccountant>(PureDp{.epsilon = rate, .count = 2 * queries});
    const double exact = ExactEpsilon(2 * queries, rate);
    EXPECT_GE(two, exact);
    EXPECT_LT(two, exact * 1.0005);
    const ThreeLaplaceParts event{.rate = rate, .count = 2 * queries};
    const double three = EpsilonOf<PldAccountant>(event);
    EXPECT_LT(three, 0.7 * two);
    EXPECT_NEAR(two, insider, 0.006);
    EXPECT_NEAR(three, outsider, 0.006);
    // Renyi's curves of the same laws are above, and not far.
    EXPECT_GT(EpsilonOf<RdpAccountant>(event), three);
    EXPECT_LT(EpsilonOf<RdpAccountant>(event), 1.2 * three);
    EXPECT_LT(EpsilonOf<RdpAccountant>(PureDp{.epsilon = rate, .count = 2 * queries}), 1.2 * two);
    // What a query as one pure release of twice the rate costs.
    EXPECT_LT(two, EpsilonOf<PldAccountant>(PureDp{.epsilon = 2 * rate, .count = queries}) * 0.85);
  }
}

/// Of two laws on the integers from -last to last, given at absolute values, one of them moved by 1.
double HockeyStick(const std::vector<double>& law, double epsilon) {
  const auto last = static_cast<std::ptrdiff_t>(law.size()) - 2;
  const auto at = [&](std::ptrdiff_t x) { return law[static_cast<std::size_t>(std::abs(x))]; };
  double sum = 0;
  for (std::ptrdiff_t x = -last; x <= last; ++x) sum += std::max(0.0, at(x) - std::exp(epsilon) * at(x - 1));
  return sum;
}

// One number: between the bounds is the exact epsilon, and with a third part it is below that of two.
TEST(LaplaceParts, HaveThePldOfTheirOneRelease) {
  const double rate = 0.7;
  const auto law = Differences(rate, 1.5, 200);
  PldAccountant accountant;
  accountant.Add(ThreeLaplaceParts{.rate = rate, .count = 1});
  for (const double delta : {1e-2, 1e-4, 1e-7}) {
    const auto found = accountant.Epsilon(delta);
    EXPECT_LE(HockeyStick(law, found.epsilon), delta);
    EXPECT_GE(HockeyStick(law, found.epsilon - found.error - 1e-9), delta * (1 - 1e-6));
    EXPECT_LT(found.epsilon, rate);
    EXPECT_LT(found.error, 0.01);
  }
}

}  // namespace
}  // namespace trefoil::dp
