#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <utility>
#include <vector>

#include "dp/accounting/analytic_gaussian.h"
#include "dp/losses/pld.h"
#include "dp/record/record.h"

namespace trefoil::dp {
namespace {

// The oracles here integrate densities on a grid and share nothing with dp/.

constexpr double kStep = 0.01;

double NormalDensity(double x, double mean, double sigma) {
  const double z = (x - mean) / sigma;
  return std::exp(-z * z / 2) / (sigma * std::sqrt(2 * std::acos(-1.0)));
}

/// A law of one number: weights of normal laws with these means.
using Means = std::vector<std::pair<double, double>>;

Means BinomialMeans(int units, double q) {
  Means means;
  for (int j = 0; j <= units; ++j) {
    const double ways = std::tgamma(units + 1.0) / (std::tgamma(j + 1.0) * std::tgamma(units - j + 1.0));
    means.emplace_back(j, ways * std::pow(q, j) * std::pow(1 - q, units - j));
  }
  return means;
}

double DensityOf(const Means& law, double x, double sigma) {
  double density = 0;
  for (const auto& [mean, weight] : law) density += weight * NormalDensity(x, mean, sigma);
  return density;
}

/// The integral of (p - e^epsilon q)+ over the line; its grid errs by less than 1e-9 for these smooth laws
/// but for the kink, whose cell contributes less than kStep^2 times the slopes.
double HockeyStick(const Means& p, const Means& q, double sigma, double epsilon) {
  double low = 0;
  double high = 0;
  for (const auto* law : {&p, &q}) {
    for (const auto& [mean, weight] : *law) {
      low = std::min(low, mean);
      high = std::max(high, mean);
    }
  }
  double sum = 0;
  for (double x = low - 10 * sigma; x < high + 10 * sigma; x += kStep)
    sum += std::max(0.0, DensityOf(p, x, sigma) - std::exp(epsilon) * DensityOf(q, x, sigma));
  return sum * kStep;
}

/// delta(epsilon) of one release, the worse neighbour counting.
double ExactDelta(int units, double q, double sigma, double epsilon) {
  const Means with = BinomialMeans(units, q);
  const Means without{{0.0, 1.0}};
  return std::max(HockeyStick(with, without, sigma, epsilon), HockeyStick(without, with, sigma, epsilon));
}

/// The same of two releases, over the plane.
double ExactDeltaOfTwo(int units, double q, double sigma, double epsilon) {
  const Means with = BinomialMeans(units, q);
  std::vector<double> p;
  std::vector<double> r;
  constexpr double kWide = 0.04;
  for (double x = -9 * sigma; x < 9 * sigma + units; x += kWide) {
    p.push_back(DensityOf(with, x, sigma));
    r.push_back(NormalDensity(x, 0, sigma));
  }
  double removed = 0;
  double added = 0;
  for (std::size_t i = 0; i < p.size(); ++i) {
    for (std::size_t j = 0; j < p.size(); ++j) {
      removed += std::max(0.0, p[i] * p[j] - std::exp(epsilon) * r[i] * r[j]);
      added += std::max(0.0, r[i] * r[j] - std::exp(epsilon) * p[i] * p[j]);
    }
  }
  return std::max(removed, added) * kWide * kWide;
}

TEST(SeveralUnits, OfOneReleaseLieAtTheHockeyStickDivergence) {
  for (const int units : {2, 10}) {
    for (const double q : {0.02, 0.3, 0.9}) {
      for (const double sigma : {0.7, 2.0}) {
        const auto bounds = Pld({SampledGaussian{q, sigma, 1, units}}, 1e-4).Epsilon(1e-4);
        EXPECT_LE(ExactDelta(units, q, sigma, bounds.epsilon), 1e-4 * (1 + 1e-3)) << units << ' ' << q;
        if (bounds.lower > 0) {
          EXPECT_GE(ExactDelta(units, q, sigma, bounds.lower), 1e-4 * (1 - 1e-3)) << units << ' ' << q;
        }
        EXPECT_LE(bounds.epsilon - bounds.lower, 2e-3 * bounds.epsilon) << units << ' ' << q << ' ' << sigma;
      }
    }
  }
}

/// What two units add to a number, one after the other, in execution e, after these releases.
using Gradients = std::function<std::pair<double, double>(int e, double first, double second)>;

/// The probabilities of which of two units (bits) are in the first batch and which in the second.
using Taken = std::array<std::array<double, 4>, 4>;

/// E[(R - c)+] of three executions, of batches 1, 2 and 1 again, R the ratio of densities, over a grid.
double HockeyStickOfThree(const Taken& taken, const Gradients& gradients, double sigma, double c) {
  constexpr double kWide = 0.25;
  const double end = 7 * sigma;
  const auto ratios = [&](int e, double first, double second, double x) {
    const auto [one, other] = gradients(e, first, second);
    std::array<double, 4> of{};
    for (int set = 0; set < 4; ++set) {
      const double sum = ((set & 1) != 0 ? one : 0) + ((set & 2) != 0 ? other : 0);
      of[static_cast<std::size_t>(set)] = std::exp((sum * x - sum * sum / 2) / (sigma * sigma));
    }
    return of;
  };
  double integral = 0;
  for (double x = -end; x < end; x += kWide) {
    const auto first = ratios(0, 0, 0, x);
    for (double y = -end; y < end; y += kWide) {
      const auto second = ratios(1, x, 0, y);
      std::array<double, 4> weights{};
      for (std::size_t a = 0; a < 4; ++a) {
        for (std::size_t b = 0; b < 4; ++b) weights.at(a) += taken.at(a).at(b) * first.at(a) * second.at(b);
      }
      double inner = 0;
      for (double z = -end; z < end; z += kWide) {
        const auto third = ratios(2, x, y, z);
        double ratio = 0;
        for (std::size_t a = 0; a < 4; ++a) ratio += weights.at(a) * third.at(a);
        inner += std::max(0.0, ratio - c) * NormalDensity(z, 0, sigma);
      }
      integral += inner * NormalDensity(x, 0, sigma) * NormalDensity(y, 0, sigma);
    }
  }
  return integral * kWide * kWide * kWide;
}

/// The same of the numbers that the charge is for: how many units are in a batch, with noise of sigma over
/// the root of its executions, 2 and 1.
double HockeyStickOfNumbers(const Taken& taken, double sigma, double c) {
  constexpr double kWide = 0.05;
  constexpr std::array<double, 4> kNumber{0, 1, 1, 2};
  const double narrow = sigma / std::sqrt(2.0);
  double integral = 0;
  for (double x = -9 * narrow; x < 9 * narrow; x += kWide) {
    for (double y = -9 * sigma; y < 9 * sigma; y += kWide) {
      double ratio = 0;
      for (std::size_t a = 0; a < 4; ++a) {
        for (std::size_t b = 0; b < 4; ++b) {
          ratio += taken.at(a).at(b) *
                   std::exp((kNumber.at(a) * x - kNumber.at(a) * kNumber.at(a) / 2) / (narrow * narrow)) *
                   std::exp((kNumber.at(b) * y - kNumber.at(b) * kNumber.at(b) / 2) / (sigma * sigma));
        }
      }
      integral += std::max(0.0, ratio - c) * NormalDensity(x, 0, narrow) * NormalDensity(y, 0, sigma);
    }
  }
  return integral * kWide * kWide;
}

// Batch 1, then 2, then 1 again by the same coins, which are those of two units at rate 1/2 without the draws
// that take all four. Where gradients are as long as they may be and alike, the charge is exact; where they
// follow what was released, in direction and in length, it is a bound. The grids err by less than 1e-3.
TEST(SeveralUnits, OfStepsDoneAgainWithAnotherBetweenAreWithinTheCharge) {
  constexpr double kSigma = 1.5;
  Taken taken{};
  for (auto& row : taken) row.fill(1.0 / 15);
  taken[3][3] = 0;
  const Gradients alike = [](int, double, double) { return std::pair(1.0, 1.0); };
  const Gradients turned = [](int e, double first, double second) {
    const double sign = (e == 1 ? first : first * second) < 0 ? -1 : 1;
    return std::pair(sign, sign);
  };
  const Gradients shortened = [](int e, double first, double second) {
    if (e == 0) return std::pair(1.0, -0.5);
    return std::pair(first < 0 ? 0.25 : 1.0, first + second > 1 ? -1.0 : 1.0);
  };
  for (const double c : {0.6, 1.0, 2.0, 5.0}) {
    const double charged = HockeyStickOfNumbers(taken, kSigma, c);
    EXPECT_NEAR(HockeyStickOfThree(taken, alike, kSigma, c), charged, 1e-3) << c;
    EXPECT_LE(HockeyStickOfThree(taken, turned, kSigma, c), charged + 1e-3) << c;
    EXPECT_LE(HockeyStickOfThree(taken, shortened, kSigma, c), charged - 5e-3) << c;
  }
}

TEST(SeveralUnits, OfTwoReleasesLieAtTheHockeyStickDivergence) {
  for (const int units : {2, 5}) {
    const auto bounds = Pld({SampledGaussian{0.1, 1.0, 2, units}}, 1e-3).Epsilon(1e-3);
    EXPECT_LE(ExactDeltaOfTwo(units, 0.1, 1.0, bounds.epsilon), 1e-3 * (1 + 5e-3)) << units;
    EXPECT_GE(ExactDeltaOfTwo(units, 0.1, 1.0, bounds.lower), 1e-3 * (1 - 5e-3)) << units;
    EXPECT_LE(bounds.epsilon - bounds.lower, 2e-3 * bounds.epsilon) << units;
  }
}

TEST(SeveralUnits, TendToTheGaussianOfTheirChiSquaredDivergence) {
  // Many releases, each of little: mu^2 = T (E_Q[(dP/dQ)^2] - 1), here with T = 40,000 steps.
  constexpr double kRate = 0.01;
  constexpr double kSigma = 6;
  for (const int units : {2, 5, 10}) {
    const Means with = BinomialMeans(units, kRate);
    double square = -1;
    for (const auto& [i, p] : with)
      for (const auto& [j, r] : with) square += p * r * std::exp(i * j / (kSigma * kSigma));
    const double limit = AnalyticGaussianEpsilon(1 / std::sqrt(40000 * square), 1e-5);
    const auto bounds = Pld({SampledGaussian{kRate, kSigma, 40000, units}}, 1e-5).Epsilon(1e-5);
    EXPECT_NEAR(bounds.epsilon, limit, 0.02 * limit) << units;
  }
}

TEST(SeveralUnits, WithoutSamplingAreOneOfKTimesTheSensitivity) {
  PldAccountant accountant;
  accountant.Add(SampledGaussian{1, 4, 9, 5});
  EXPECT_NEAR(accountant.Epsilon(1e-5).epsilon, AnalyticGaussianEpsilon(4.0 / 15, 1e-5), 1e-9);
  const auto by_grid = Pld({SampledGaussian{1, 4, 9, 5}}, 1e-5).Epsilon(1e-5);
  EXPECT_NEAR(by_grid.epsilon, AnalyticGaussianEpsilon(4.0 / 15, 1e-5), 0.02);
}

/// The integral of (p - e^epsilon q)+ over the plane, p the mixture of N(g_S, 1) over sets S of rows that are
/// each taken with probability `rate`, q = N(0, 1), or the other way round.
double PlaneDelta(const std::vector<std::pair<double, double>>& rows, double rate, double epsilon,
                  bool added) {
  constexpr double kWide = 0.08;
  double sum = 0;
  for (double x = -9; x < 12; x += kWide) {
    for (double y = -9; y < 12; y += kWide) {
      double mixture = 0;
      for (unsigned set = 0; set < 1U << rows.size(); ++set) {
        double weight = 1;
        double a = 0;
        double b = 0;
        for (std::size_t i = 0; i < rows.size(); ++i) {
          const bool in = (set >> i & 1U) != 0;
          weight *= in ? rate : 1 - rate;
          a += in ? rows[i].first : 0;
          b += in ? rows[i].second : 0;
        }
        mixture += weight * NormalDensity(x, a, 1) * NormalDensity(y, b, 1);
      }
      const double plain = NormalDensity(x, 0, 1) * NormalDensity(y, 0, 1);
      sum += std::max(0.0, added ? plain - std::exp(epsilon) * mixture : mixture - std::exp(epsilon) * plain);
    }
  }
  return sum * kWide * kWide;
}

TEST(SeveralUnits, AreWorstWhereAllRowsPointOneWay) {
  const std::vector<std::vector<std::pair<double, double>>> arrangements{{{1, 0}, {0, 1}},
                                                                         {{1, 0}, {-1, 0}},
                                                                         {{0.6, 0.8}, {1, 0}},
                                                                         {{0.5, 0}, {0.3, -0.4}},
                                                                         {{1, 0}, {0.99, 0.1}}};
  for (const double rate : {0.1, 0.6}) {
    for (const double epsilon : {-1.0, 0.0, 0.5, 1.5}) {
      for (const bool added : {false, true}) {
        const double worst = PlaneDelta({{1, 0}, {1, 0}}, rate, epsilon, added);
        for (const auto& rows : arrangements)
          EXPECT_LE(PlaneDelta(rows, rate, epsilon, added), worst + 1e-6) << rate << ' ' << epsilon;
      }
    }
  }
}

/// The law of what one release opens when `units` rows of value 1 and `others` rows of value `value` are
/// taken with probability `rate` each, and all beyond `limit` of those taken are dropped at random.
Means CutLaw(int units, int others, double value, double rate, int limit) {
  Means law;
  const Means mine = BinomialMeans(units, rate);
  const Means theirs = BinomialMeans(others, rate);
  const auto ways = [](double n, double k) {
    return k < 0 || k > n ? 0.0 : std::tgamma(n + 1) / (std::tgamma(k + 1) * std::tgamma(n - k + 1));
  };
  for (const auto& [a, p] : mine) {
    for (const auto& [b, r] : theirs) {
      const double kept = std::min<double>(limit, a + b);
      for (double own = std::max(0.0, kept - b); own <= std::min(a, kept); ++own)
        law.emplace_back(own + value * (kept - own),
                         p * r * ways(a, own) * ways(b, kept - own) / ways(a + b, kept));
    }
  }
  return law;
}

TEST(SeveralUnits, OfCutBatchesCostTheChanceThatOthersLeaveNoRoom) {
  // Others pull the sum far down, so that who takes their place is seen: with cuts delta is above that of the
  // mechanism without them, and never above that plus the charge.
  constexpr double kSigma = 1.0;
  constexpr double kRate = 0.3;
  bool cuts_show = false;
  for (const int units : {1, 2, 4}) {
    for (const int limit : {7, 9, 11}) {
      const Means with = CutLaw(units, 12, -10, kRate, limit);
      const Means without = CutLaw(0, 12, -10, kRate, limit);
      const double charge = OverflowProbability({{12 + units, 0, 0}, {limit, 0, 0}}, kRate, units);
      for (const double epsilon : {0.1, 0.3, 1.0, 2.0, 6.0}) {
        const double cut = std::max(HockeyStick(with, without, kSigma, epsilon),
                                    HockeyStick(without, with, kSigma, epsilon));
        const double uncut = ExactDelta(units, kRate, kSigma, epsilon);
        EXPECT_LE(cut, uncut + charge + 1e-6) << units << ' ' << limit << ' ' << epsilon;
        cuts_show = cuts_show || cut > uncut + 1e-4;
      }
    }
  }
  EXPECT_TRUE(cuts_show);
}

/// Over all ways to have so many units at owners, each at least one.
double WorstOfOwners(int units, const std::function<double(int)>& at_one) {
  double worst = 0;
  for (int here = 1; here <= units; ++here)
    worst = std::max(worst, at_one(here) + (here < units ? WorstOfOwners(units - here, at_one) : 0));
  return worst;
}

TEST(SeveralUnits, OfCutBatchesOfAnyNumberOfOwnersCostWhatTheyDoInTheWorstWay) {
  for (const auto& [limit, rate] :
       {std::pair{3, 0.2}, std::pair{5, 0.2}, std::pair{8, 0.2}, std::pair{11, 0.8}}) {
    const auto no_room = [limit = limit, rate = rate](int here) {
      if (here > limit) return 1.0;
      double above = 0;
      for (const auto& [others, probability] : BinomialMeans(12 - here, rate))
        above += others > limit - here ? probability : 0;
      return above;
    };
    for (const int units : {1, 2, 4, 6}) {
      const double exact = std::min(1.0, WorstOfOwners(units, no_room));
      const double charged = OverflowOfAnyOwners({{12, 0, 0}, {limit, 0, 0}}, rate, units);
      EXPECT_GE(charged, exact * (1 - 1e-9)) << limit << ' ' << units;
      if (exact < 0.2) {
        EXPECT_LE(charged, exact * (1 + 1e-5)) << limit << ' ' << units;
      }
    }
  }
  EXPECT_EQ(OverflowOfAnyOwners({{12, 0, 0}, {12, 0, 0}}, 0.2, 5), 0) << "nothing is cut";
}

// Deposited batches, done twice, of k records of one person: by integrals, for both adversaries.
TEST(EpsilonsOfUnits, OfDepositedBatchesLieAtTheHockeyStickDivergence) {
  DpSgdSteps steps;
  steps.steps = 1;
  steps.sampling = SamplingMode::kDeposited;
  steps.sampling_rate = 0.1;
  steps.sigma = 2;
  steps.executions = 2;
  steps.limits = {{1000, 0, 0}, {1000, 0, 0}};
  steps.party_deviation = 1e9;
  steps.coordinates = 10;
  for (const int units : {2, 5}) {
    const auto pair = EpsilonsOfUnits({"a", "b", {steps}}, units, 1e-4);
    for (const auto& [epsilon, sigma] :
         {std::pair{pair.insider, 2 / std::sqrt(2.0)}, std::pair{pair.outsider, 2 * std::sqrt(1.5 / 2)}}) {
      EXPECT_LE(ExactDelta(units, 0.1, sigma, epsilon), 1e-4 * (1 + 1e-3)) << units;
      EXPECT_GE(ExactDelta(units, 0.1, sigma, epsilon - 0.01), 1e-4) << units;
    }
  }
}

DpSgdSteps StepsAtMnist() {
  DpSgdSteps steps;
  steps.steps = 439;
  steps.sampling_rate = 2048.0 / 60000;
  steps.sigma = 1.100704;
  steps.limits = {{20000, 20000, 20000}, {900, 900, 900}};
  steps.party_deviation = 1e9;
  steps.coordinates = 7850;
  return steps;
}

TEST(EpsilonsOfUnits, AreFarAboveKTimesEpsilonForSampledSteps) {
  // Figures of an independent computation (the audit's): k = 5 and 10, outsider and insider.
  const TrainingRecord record{"a", "b", {StepsAtMnist()}};
  const auto five = EpsilonsOfUnits(record, 5, 1e-5);
  EXPECT_NEAR(five.outsider, 18.65, 0.05);
  EXPECT_NEAR(five.insider, 27.2, 0.1);
  const auto ten = EpsilonsOfUnits(record, 10, 1e-5);
  EXPECT_NEAR(ten.outsider, 47.6, 0.1);
  EXPECT_NEAR(ten.insider, 70.9, 0.1);
  const auto one = Epsilons(record, 1e-5);
  EXPECT_NEAR(one.outsider, 3.0, 1e-3);
  EXPECT_EQ(EpsilonsOfUnits(record, 1, 1e-5).insider, one.insider);
}

TEST(EpsilonsOfUnits, CountInsidersWhoSeeTheCoinsWithoutAmplification) {
  auto steps = StepsAtMnist();
  steps.sampling = SamplingMode::kPublic;
  steps.max_participation = 20;
  steps.limits.max_batch = steps.limits.capacity;
  const auto pair = EpsilonsOfUnits({"a", "b", {steps}}, 3, 1e-5);
  EXPECT_NEAR(pair.insider, AnalyticGaussianEpsilon(1.100704 / 3 / std::sqrt(20.0), 1e-5), 1e-6);
  EXPECT_LT(pair.outsider, pair.insider);
}

TEST(EpsilonsOfUnits, MultiplyPureReleasesAndWidenApproximateOnes) {
  const TrainingRecord pure{"a", "b", {PureReleases{.count = 3, .epsilon = 0.25}}};
  EXPECT_NEAR(EpsilonsOfUnits(pure, 5, 1e-9).insider, 3.75, 1e-9);
  const TrainingRecord gaussian{
      "a", "b", {GaussianReleases{.count = 4, .coordinates = 10, .sigma = 8, .party_deviation = 1e9}}};
  EXPECT_NEAR(EpsilonsOfUnits(gaussian, 2, 1e-5).insider, AnalyticGaussianEpsilon(2, 1e-5), 1e-9);
  const TrainingRecord approximate{
      "a", "b", {ApproximateReleases{.count = 1, .epsilon = 1, .failure = 1e-9}}};
  EXPECT_NEAR(EpsilonsOfUnits(approximate, 3, 1e-5).insider, 3, 3e-5);
  // e^2 (1 + e^3) 1e-9 is 1.6e-7.
  EXPECT_TRUE(std::isinf(EpsilonsOfUnits(approximate, 3, 1.5e-7).insider));
}

TEST(EpsilonsOfUnits, OfGroupsLeaveRoomForWholeGroups) {
  auto steps = StepsAtMnist();
  steps.limits.group_rows = 4;
  const auto events = OutsiderEvents(RecordedEvent(steps), 2);
  EXPECT_EQ(std::get<SampledGaussian>(events.at(0)).units, 2);
  EXPECT_EQ(std::get<IndependentFailure>(events.at(2)).probability,
            std::max(GroupOverflowProbability(19992, steps.sampling_rate, 892, 4),
                     2 * GroupOverflowProbability(19996, steps.sampling_rate, 896, 4)));
}

}  // namespace
}  // namespace trefoil::dp
