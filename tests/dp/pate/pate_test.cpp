#include "dp/pate/pate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "base/error.h"
#include "dp/accounting/rdp.h"
#include "tests/dp/not_finite.h"
#include "tests/dp/reference_vectors.h"
#include "tests/support/vote_counts.h"

namespace trefoil::dp {
namespace {

using testing_support::AllCounts;
using Counts = std::vector<std::int64_t>;

double LnMaxLogQ(const Counts& counts, double scale) {
  return AnswerLogQ(counts, {.law = VoteNoise::kLaplace, .size = scale});
}

double GnMaxLogQ(const Counts& counts, double sigma) {
  return AnswerLogQ(counts, {.law = VoteNoise::kNormal, .size = sigma});
}

/// As many digits as the vectors have.
void ExpectClose(double found, double expected, double digits) {
  EXPECT_NEAR(found, expected, std::abs(expected) * std::pow(10, -digits));
}

TEST(Pate, MatchesTheReferenceVectorsOfGnMax) {
  const auto vectors = ReferenceVectors("pate.json");
  for (const auto& one : vectors.at("gnmax")) {
    const auto counts = one.at("counts").get<Counts>();
    const double sigma = one.at("sigma");
    const double log_q = GnMaxLogQ(counts, sigma);
    ExpectClose(log_q, one.at("logq"), 11);
    const double orders[] = {2, 4, 8, 16, 32};
    for (std::size_t i = 0; i < 5; ++i) ExpectClose(GnMaxRdp(log_q, sigma, orders[i]), one.at("rdp")[i], 9);
  }
}

TEST(Pate, MatchesTheReferenceVectorsOfLnMax) {
  const auto vectors = ReferenceVectors("pate.json");
  for (const auto& one : vectors.at("lnmax")) {
    const double scale = one.at("lambda");
    const double log_q = LnMaxLogQ(one.at("counts").get<Counts>(), scale);
    ExpectClose(log_q, one.at("logq"), 9);
    const auto orders = one.at("rdp_orders").get<std::vector<double>>();
    // The vectors have five digits.
    for (std::size_t i = 0; i < orders.size(); ++i)
      ExpectClose(LnMaxRdp(log_q, scale, orders[i]), one.at("rdp")[i], 4.3);
  }
}

TEST(Pate, MatchesTheReferenceVectorsWhateverTheVotesAre) {
  const auto vectors = ReferenceVectors("pate.json");
  const auto& one = vectors.at("gnmax_data_independent");
  const double sigma = one.at("sigma");
  for (std::size_t i = 0; i < one.at("queries").size(); ++i) {
    const double queries = one.at("queries")[i];
    std::vector<double> rdp;
    for (const double order : PateOrders()) rdp.push_back(queries * GnMaxRdp(0, sigma, order));
    ExpectClose(RdpToEpsilon(PateOrders(), rdp, one.at("delta"), RdpConversion::kBasic).epsilon,
                one.at("epsilon")[i], 8.5);
  }
}

// gamma = 0.05, 100 queries, delta = 1e-5: 5.80 by the closed form that follows from bound 1
// (dp/pate/pate.h).
// The best of its moments, l = 5, gives 100 * 2 gamma^2 (l + 1) + ln(1 / delta) / l.
TEST(Pate, IsBelowTheClosedFormOfLnMaxByItsBestMoment) {
  std::vector<double> orders;
  std::vector<double> rdp;
  for (int moment = 1; moment <= 8; ++moment) {
    orders.push_back(moment + 1);
    rdp.push_back(100 * LnMaxRdp(0, 20, moment + 1));
  }
  const auto found = RdpToEpsilon(orders, rdp, 1e-5, RdpConversion::kBasic);
  EXPECT_NEAR(found.epsilon, 3 + std::log(1e5) / 5, 1e-12);
  EXPECT_EQ(found.order, 6);
  EXPECT_LT(found.epsilon, 4 * 100 * 0.0025 + 0.1 * std::sqrt(200 * std::log(1e5)));
}

/// The exact Renyi divergence of two laws on finitely many outcomes.
double RenyiOfDistributions(const std::vector<double>& p, const std::vector<double>& q, double order) {
  // In logarithms: terms may be beyond what a double holds.
  std::vector<double> terms;
  for (std::size_t k = 0; k < p.size(); ++k) {
    if (p[k] > 0) terms.push_back(order * std::log(p[k]) + (1 - order) * std::log(q[k]));
  }
  const double largest = *std::max_element(terms.begin(), terms.end());
  double sum = 0;
  for (const double term : terms) sum += std::exp(term - largest);
  return (largest + std::log(sum)) / (order - 1);
}

/// The law of the winner, by numerical integration over its noise.
template <typename Density, typename Cumulative>
std::vector<double> WinnerLaw(const Counts& counts, double width, Density density, Cumulative cumulative) {
  constexpr int kSteps = 20'000;
  std::vector<double> law(counts.size());
  const double step = 2 * width / kSteps;
  for (std::size_t winner = 0; winner < counts.size(); ++winner) {
    for (int i = 0; i <= kSteps; ++i) {
      const double x = -width + i * step;
      double mass = density(x) * step;
      for (std::size_t other = 0; other < counts.size(); ++other) {
        if (other != winner) mass *= cumulative(x + static_cast<double>(counts[winner] - counts[other]));
      }
      law[winner] += mass;
    }
  }
  return law;
}

// The bounds against the mechanisms themselves: for every way to move one vote of several vote counts, in
// both directions, the exact divergence is below the bound, and q above the exact probability of another
// winner.
TEST(Pate, BoundsTheExactDivergenceOfBothMechanisms) {
  const auto gaussian = [](double sigma) {
    return std::pair{
        [=](double x) { return std::exp(-x * x / (2 * sigma * sigma)) / (sigma * std::sqrt(2 * M_PI)); },
        [=](double x) { return std::erfc(-x / (sigma * std::sqrt(2.0))) / 2; }};
  };
  const auto laplace = [](double scale) {
    return std::pair{
        [=](double x) { return std::exp(-std::abs(x) / scale) / (2 * scale); },
        [=](double x) { return x < 0 ? std::exp(x / scale) / 2 : 1 - std::exp(-x / scale) / 2; }};
  };
  const std::vector<Counts> all{{30, 12, 8}, {18, 17, 15}, {50, 0, 0}, {25, 25, 0}, {40, 10}};
  for (const auto& counts : all) {
    const auto [normal, normal_below] = gaussian(5);
    const auto [exponential, exponential_below] = laplace(4);
    const auto gaussian_law = WinnerLaw(counts, 60, normal, normal_below);
    const auto laplace_law = WinnerLaw(counts, 160, exponential, exponential_below);
    EXPECT_LE(1 - gaussian_law[0], std::exp(GnMaxLogQ(counts, 5)) + 1e-6);
    EXPECT_LE(1 - laplace_law[0], std::exp(LnMaxLogQ(counts, 4)) + 1e-6);
    for (std::size_t from = 0; from < counts.size(); ++from) {
      for (std::size_t to = 0; to < counts.size(); ++to) {
        if (from == to || counts[from] == 0) continue;
        Counts moved = counts;
        --moved[from];
        ++moved[to];
        const auto moved_gaussian = WinnerLaw(moved, 60, normal, normal_below);
        const auto moved_laplace = WinnerLaw(moved, 160, exponential, exponential_below);
        for (const double order : {1.5, 2.0, 4.0, 8.0}) {
          EXPECT_LE(RenyiOfDistributions(gaussian_law, moved_gaussian, order),
                    GnMaxRdp(GnMaxLogQ(counts, 5), 5, order) + 1e-4);
          EXPECT_LE(RenyiOfDistributions(laplace_law, moved_laplace, order),
                    LnMaxRdp(LnMaxLogQ(counts, 4), 4, order) + 1e-4);
        }
      }
    }
  }
}

bool IsNeighbour(const Counts& a, const Counts& b) {
  std::int64_t moved = 0;
  for (std::size_t k = 0; k < a.size(); ++k) moved += std::abs(a[k] - b[k]);
  return moved == 2;
}

struct ConfidentNoise {
  double sigma;
  double threshold;
  double threshold_sigma;
};

/// The law of what Confident-GNMax says of a query, by numerical integration: each winner, or no answer last.
std::vector<double> ConfidentLaw(const Counts& counts, const ConfidentNoise& noise) {
  auto law = WinnerLaw(
      counts, 40 * noise.sigma,
      [&](double x) {
        return std::exp(-x * x / (2 * noise.sigma * noise.sigma)) / (noise.sigma * std::sqrt(2 * M_PI));
      },
      [&](double x) { return std::erfc(-x / (noise.sigma * std::sqrt(2.0))) / 2; });
  const double most = static_cast<double>(*std::max_element(counts.begin(), counts.end()));
  const double away = (noise.threshold - most) / (noise.threshold_sigma * std::sqrt(2.0));
  for (auto& mass : law) mass *= std::erfc(away) / 2;
  law.push_back(std::erfc(-away) / 2);
  return law;
}

double ConfidentRdp(const Counts& counts, const ConfidentNoise& noise, double order) {
  const auto law = NoisyThreshold(counts, noise.threshold, noise.threshold_sigma);
  const double log_odds = TiltedLogOdds(counts, noise.threshold, noise.threshold_sigma, order);
  return NoisyThresholdRdp(law.log_q, noise.threshold_sigma, order) +
         AnsweredRdp(log_odds, GnMaxRdp(GnMaxLogQ(counts, noise.sigma), noise.sigma, order), order);
}

// Every table of few teachers, each against all its neighbours, as the first law and as the second: what is
// charged is above the exact divergence of threshold and answer together, and close to it somewhere. A charge
// of the answer times the probability that there is one is not: the test finds many that are below.
TEST(Pate, BoundsTheExactMixtureOfAThresholdAndItsAnswer) {
  const std::vector<ConfidentNoise> all{{.sigma = 0.3, .threshold = 9, .threshold_sigma = 2},
                                        {.sigma = 0.6, .threshold = 7, .threshold_sigma = 1.2},
                                        {.sigma = 1, .threshold = 3, .threshold_sigma = 4},
                                        {.sigma = 2, .threshold = 12, .threshold_sigma = 3},
                                        {.sigma = 0.5, .threshold = -2, .threshold_sigma = 2}};
  double closest = 0;
  int linear_too_small = 0;
  for (const auto& [teachers, classes] : {std::pair<std::int64_t, std::size_t>{6, 2}, {4, 3}}) {
    const auto tables = AllCounts(teachers, classes);
    for (const auto& noise : all) {
      std::vector<std::vector<double>> laws;
      for (const auto& counts : tables) laws.push_back(ConfidentLaw(counts, noise));
      for (std::size_t i = 0; i < tables.size(); ++i) {
        for (std::size_t j = 0; j < tables.size(); ++j) {
          if (!IsNeighbour(tables[i], tables[j])) continue;
          for (const double order : {1.3, 2.0, 4.0, 9.0}) {
            const double exact = RenyiOfDistributions(laws[i], laws[j], order);
            const double bound = ConfidentRdp(tables[i], noise, order);
            EXPECT_LE(exact, bound * (1 + 1e-6) + 1e-6)
                << tables[i][0] << " " << tables[j][0] << " " << order;
            closest = std::max(closest, exact / bound);
            const auto law = NoisyThreshold(tables[i], noise.threshold, noise.threshold_sigma);
            const double linear =
                NoisyThresholdRdp(law.log_q, noise.threshold_sigma, order) +
                std::exp(law.log_answered) * GnMaxRdp(GnMaxLogQ(tables[i], noise.sigma), noise.sigma, order);
            if (linear < exact * 0.99) ++linear_too_small;
          }
        }
      }
    }
  }
  EXPECT_GT(closest, 0.85);
  EXPECT_GT(linear_too_small, 100);
}

/// At `delta`, by all outcomes of one law against the other.
double ExactEpsilon(const std::vector<double>& p, const std::vector<double>& q, double delta) {
  double low = 0;
  double high = 1000;
  for (int i = 0; i < 200; ++i) {
    const double middle = (low + high) / 2;
    double found = 0;
    for (std::size_t k = 0; k < p.size(); ++k) found += std::max(0.0, p[k] - std::exp(middle) * q[k]);
    (found > delta ? low : high) = middle;
  }
  return high;
}

// Votes that are seldom answered, and then with hardly any noise: what they cost is not small. First an
// audit's two cases, which were charged 2.03 and 0.548, then others.
TEST(Pate, ChargesAnswersThatAreRareAndLoud) {
  struct Case {
    Counts votes;
    Counts neighbour;
    ConfidentNoise noise;
    double least;  ///< of the exact epsilon at 1e-5, found by hand
  };
  const std::vector<Case> cases{{{50, 50}, {51, 49}, {0.3, 166.3, 50}, 12.87},
                                {{50, 50}, {51, 49}, {1, 166.3, 50}, 1.79},
                                {{30, 30}, {31, 29}, {0.25, 112, 30}, 17.88},
                                {{7, 7, 6}, {8, 6, 6}, {0.4, 40, 12}, 7.55}};
  for (const auto& [votes, neighbour, noise, least] : cases) {
    const auto p = ConfidentLaw(votes, noise);
    const auto q = ConfidentLaw(neighbour, noise);
    const double exact = std::max(ExactEpsilon(p, q, 1e-5), ExactEpsilon(q, p, 1e-5));
    EXPECT_GT(exact, least - 0.01);
    std::vector<double> rdp;
    for (const double order : DefaultRdpOrders()) rdp.push_back(ConfidentRdp(votes, noise, order));
    const double charged = RdpToEpsilon(DefaultRdpOrders(), rdp, 1e-5).epsilon;
    EXPECT_GE(charged, exact);
    EXPECT_LT(charged, 3.5 * exact);  // at so large an epsilon no order converts well
  }
}

TEST(Pate, AddsNoMoreForAnAnswerThanTheAnswer) {
  EXPECT_EQ(AnsweredRdp(kInfinity, 0.7, 3), 0.7);
  EXPECT_EQ(AnsweredRdp(-kInfinity, 0.7, 3), 0);
  EXPECT_NEAR(AnsweredRdp(0, 0.7, 3), std::log((1 + std::exp(1.4)) / 2) / 2, 1e-15);
  EXPECT_NEAR(AnsweredRdp(-30, 1e-9, 8), 1e-9 * std::exp(-30.0), 1e-27);
  EXPECT_NEAR(AnsweredRdp(-30, 200, 8), 200 - 30 / 7.0, 1e-9);  // nothing overflows
  for (const double log_odds : {-40.0, -3.0, 0.0, 5.0, 50.0}) {
    for (const double answer : {0.0, 1e-12, 0.05, 1.0, 30.0, 1e5}) {
      for (const double order : {1.01, 2.0, 64.0, 1024.0}) {
        const double found = AnsweredRdp(log_odds, answer, order);
        EXPECT_LE(found, answer);
        EXPECT_GE(found, answer / (1 + std::exp(-log_odds)) * (1 - 1e-9));  // Jensen
        EXPECT_LE(found, AnsweredRdp(log_odds + 0.1, answer, order) * (1 + 1e-12));
      }
    }
  }
  // Far tails, where probabilities have no double: certain answers, and none.
  EXPECT_GT(TiltedLogOdds(Counts{1'000'000}, 0, 1, 8), 1e11);
  EXPECT_LT(TiltedLogOdds(Counts{0}, 1'000'000, 1, 8), -1e11);
}

TEST(Pate, ChargesAThresholdByTheLessLikelyAnswer) {
  const auto far = NoisyThreshold(Counts{250, 0}, 150, 20);
  EXPECT_NEAR(far.log_answered, 0, 1e-6);
  EXPECT_NEAR(far.log_q, std::log(std::erfc(5 / std::sqrt(2.0)) / 2), 1e-12);
  const auto at = NoisyThreshold(Counts{150, 100}, 150, 20);
  EXPECT_NEAR(at.log_answered, std::log(0.5), 1e-12);
  EXPECT_NEAR(at.log_q, std::log(0.5), 1e-12);
  EXPECT_NEAR(NoisyThreshold(Counts{100, 50}, 150, 20).log_answered,
              std::log(std::erfc(2.5 / std::sqrt(2.0)) / 2), 1e-12);
  // Moving one vote moves the count by one: the plain Gaussian's curve, and below it where the answer is
  // clear.
  EXPECT_NEAR(NoisyThresholdRdp(0, 20, 8), 8 / (2 * 400.0), 1e-15);
  EXPECT_LT(NoisyThresholdRdp(far.log_q, 20, 2), 2 / (2 * 400.0));
}

TEST(Pate, IsNeverAboveWhatHoldsWhateverTheVotesAre) {
  std::mt19937_64 random(61);
  for (int trial = 0; trial < 2000; ++trial) {
    Counts counts(1 + random() % 12);
    for (auto& count : counts) count = static_cast<std::int64_t>(random() % 300);
    const double noise = std::exp(std::uniform_real_distribution<double>(-2, 6)(random));
    const double order = 1 + std::exp(std::uniform_real_distribution<double>(-3, 6)(random));
    const double lnmax = LnMaxRdp(LnMaxLogQ(counts, noise), noise, order);
    const double gnmax = GnMaxRdp(GnMaxLogQ(counts, noise), noise, order);
    EXPECT_GE(lnmax, 0);
    EXPECT_LE(lnmax, std::min(2 / noise, 2 * order / (noise * noise)) * (1 + 1e-12));
    EXPECT_GE(gnmax, 0);
    EXPECT_LE(gnmax, order / (noise * noise) * (1 + 1e-12));
  }
}

TEST(Pate, KnowsItsEdges) {
  EXPECT_EQ(GnMaxLogQ(Counts{7}, 3), -kInfinity);  // one class: always it
  EXPECT_EQ(GnMaxRdp(-kInfinity, 3, 2), 0);
  EXPECT_EQ(LnMaxRdp(-kInfinity, 3, 2), 0);
  EXPECT_NEAR(GnMaxLogQ(Counts{5, 5, 5, 5}, 3), std::log(0.75), 1e-12);  // ties: any of the four
  EXPECT_NEAR(LnMaxLogQ(Counts{0, 0}, 3), std::log(0.5), 1e-12);
  EXPECT_LT(GnMaxLogQ(Counts{1000, 0}, 1), -200'000);  // far below the smallest double
  EXPECT_NEAR(GnMaxRdp(GnMaxLogQ(Counts{1000, 0}, 1), 1, 2), 0, 1e-12);
  EXPECT_THROW((void)GnMaxLogQ({}, 1), ContractError);
  EXPECT_THROW((void)GnMaxLogQ(Counts{-1, 2}, 1), ContractError);
  EXPECT_THROW((void)GnMaxLogQ(Counts{1, 2}, 0), ConfigError);
  EXPECT_THROW((void)LnMaxLogQ(Counts{1, 2}, std::nan("")), ConfigError);
  EXPECT_THROW((void)GnMaxRdp(-1, 1, 1), ConfigError);
}

}  // namespace
}  // namespace trefoil::dp
