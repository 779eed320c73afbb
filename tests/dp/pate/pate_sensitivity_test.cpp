#include "dp/pate/pate_sensitivity.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "base/error.h"
#include "dp/pate/pate.h"
#include "tests/support/vote_counts.h"

namespace trefoil::dp {
namespace {

using testing_support::AllCounts;
using Counts = std::vector<std::int64_t>;
using Votes = std::vector<Counts>;

AnswerNoise NormalNoise(double sigma) { return {.law = VoteNoise::kNormal, .size = sigma}; }
AnswerNoise LaplaceNoise(double scale) { return {.law = VoteNoise::kLaplace, .size = scale}; }

/// Votes to be moved, at least: no teacher moves more than one of a query.
std::int64_t Distance(const Votes& a, const Votes& b) {
  std::int64_t most = 0;
  for (std::size_t query = 0; query < a.size(); ++query) {
    std::int64_t moved = 0;
    for (std::size_t k = 0; k < a[query].size(); ++k)
      moved += std::max<std::int64_t>(0, a[query][k] - b[query][k]);
    most = std::max(most, moved);
  }
  return most;
}

/// The part of the tilted law that answers, of all neighbours the largest.
double Tilted(const Counts& counts, const SmoothVoteSettings& settings) {
  const double most = static_cast<double>(*std::max_element(counts.begin(), counts.end()));
  const auto above = [&](double count, double sign) {
    return std::erfc(sign * (*settings.threshold - count) / (settings.threshold_sigma * std::sqrt(2.0))) / 2;
  };
  double largest = 0;
  for (const double other : {most - 1, most, most + 1}) {
    for (const auto& [p, q] : {std::pair{most, other}, {other, most}}) {
      const double yes = std::pow(above(p, 1), settings.order) * std::pow(above(q, 1), 1 - settings.order);
      const double no = std::pow(above(p, -1), settings.order) * std::pow(above(q, -1), 1 - settings.order);
      largest = std::max(largest, yes / (yes + no));
    }
  }
  return largest;
}

/// The definition, query by query.
double PlainCost(const Votes& votes, const SmoothVoteSettings& settings) {
  double sum = 0;
  for (const auto& counts : votes) {
    const double answer = AnswerRdp(AnswerLogQ(counts, settings.answer), settings.answer, settings.order);
    if (!settings.threshold) {
      sum += answer;
      continue;
    }
    const auto law = NoisyThreshold(counts, *settings.threshold, settings.threshold_sigma);
    const double weight = Tilted(counts, settings);
    sum += std::log1p(weight * std::expm1((settings.order - 1) * answer)) / (settings.order - 1) +
           NoisyThresholdRdp(law.log_q, settings.threshold_sigma, settings.order);
  }
  return sum;
}

/// Every table of votes, with what is found of it by trying all others.
struct Table {
  Votes votes;
  SmoothVoteCost found;
  double cost = 0;
  double local = 0;   ///< sensitivity
  double smooth = 0;  ///< sensitivity, the exact one
};

std::vector<Table> AllTables(std::int64_t teachers, std::size_t classes, bool two_queries,
                             const SmoothVoteSettings& settings) {
  std::vector<Table> tables;
  for (const auto& first : AllCounts(teachers, classes)) {
    if (!two_queries) tables.push_back({.votes = {first}, .found = {}});
    for (const auto& second : AllCounts(teachers, classes)) {
      if (two_queries) tables.push_back({.votes = {first, second}, .found = {}});
    }
  }
  for (auto& one : tables) {
    one.found = SmoothCostOfVotes(one.votes, settings);
    one.cost = PlainCost(one.votes, settings);
  }
  for (auto& one : tables) {
    for (const auto& other : tables) {
      if (Distance(one.votes, other.votes) == 1)
        one.local = std::max(one.local, std::abs(one.cost - other.cost));
    }
  }
  for (auto& one : tables) {
    for (const auto& other : tables) {
      const auto distance = static_cast<double>(Distance(one.votes, other.votes));
      one.smooth = std::max(one.smooth, std::exp(-settings.beta * distance) * other.local);
    }
  }
  return tables;
}

// All tables of few teachers: the bound is above the exact smooth sensitivity, is smooth itself, and is not
// far above (3.3 times at most, here): one moved vote is taken to change the winner's lead over every other
// class by two.
TEST(SmoothCostOfVotes, BoundsWhatTryingAllNeighboursFinds) {
  struct Case {
    std::int64_t teachers;
    std::size_t classes;
    bool two_queries;
    SmoothVoteSettings settings;
  };
  const std::vector<Case> cases{
      {12, 3, false, {.answer = NormalNoise(1.5), .order = 4, .beta = 0.1}},
      {12, 3, false, {.answer = NormalNoise(0.8), .order = 2, .beta = 0.4}},
      {20, 2, false, {.answer = NormalNoise(2), .order = 8, .beta = 0.05}},
      {9, 4, false, {.answer = NormalNoise(1), .order = 3, .beta = 0.2}},
      {6, 3, true, {.answer = NormalNoise(1), .order = 3, .beta = 0.1}},
      {12,
       3,
       false,
       {.answer = NormalNoise(1.5), .threshold = 7, .threshold_sigma = 2, .order = 4, .beta = 0.1}},
      {6, 3, true, {.answer = NormalNoise(1), .threshold = 4, .threshold_sigma = 3, .order = 3, .beta = 0.2}},
      // Next to nothing but the threshold changes.
      {12,
       3,
       false,
       {.answer = NormalNoise(60), .threshold = 8, .threshold_sigma = 1, .order = 4, .beta = 0.1}},
      {12,
       2,
       false,
       {.answer = NormalNoise(60), .threshold = 11, .threshold_sigma = 0.6, .order = 2, .beta = 0.3}},
      {12, 3, false, {.answer = LaplaceNoise(1), .order = 4, .beta = 0.1}},
      {12, 3, false, {.answer = LaplaceNoise(2), .order = 2, .beta = 0.4}},
      {20, 2, false, {.answer = LaplaceNoise(2), .order = 3, .beta = 0.05}},
      {9, 4, false, {.answer = LaplaceNoise(0.5), .order = 2.5, .beta = 0.2}},
      {6, 3, true, {.answer = LaplaceNoise(0.8), .order = 3, .beta = 0.1}},
  };
  double loosest = 0;
  for (const auto& [teachers, classes, two_queries, settings] : cases) {
    SCOPED_TRACE(teachers);
    const auto tables = AllTables(teachers, classes, two_queries, settings);
    for (const auto& one : tables) {
      EXPECT_NEAR(one.found.rdp, one.cost, 1e-12);
      EXPECT_GE(one.found.sensitivity, one.smooth * (1 - 1e-12));
      EXPECT_GT(one.smooth, 0);
      loosest = std::max(loosest, one.found.sensitivity / one.smooth);
      for (const auto& other : tables) {
        if (Distance(one.votes, other.votes) == 1) {
          EXPECT_LE(one.found.sensitivity, std::exp(settings.beta) * other.found.sensitivity * (1 + 1e-12));
        }
      }
    }
  }
  EXPECT_LT(loosest, 4);
}

// Many teachers, classes and queries, where nobody can try all neighbours: teachers who vote otherwise in
// every query, to the classes that change most and at random.
TEST(SmoothCostOfVotes, BoundsWhatMovedVotesChangeInManyQueries) {
  std::mt19937_64 coins(7);
  const auto pick = [&](std::int64_t below) {
    return std::uniform_int_distribution<std::int64_t>(0, below - 1)(coins);
  };
  constexpr std::int64_t kTeachers = 100;
  const std::vector<SmoothVoteSettings> all{
      {.answer = LaplaceNoise(8), .order = 6, .beta = 0.03},
      {.answer = LaplaceNoise(15), .order = 2.5, .beta = 0.08},
      {.answer = NormalNoise(12), .order = 8, .beta = 0.02},
      {.answer = NormalNoise(12), .threshold = 60, .threshold_sigma = 20, .order = 8, .beta = 0.02}};
  for (const auto& settings : all) {
    Votes votes(20, Counts(10));
    for (auto& counts : votes) {
      const auto crowd = pick(kTeachers + 1);
      counts[static_cast<std::size_t>(pick(10))] = crowd;
      for (std::int64_t rest = crowd; rest < kTeachers; ++rest) ++counts[static_cast<std::size_t>(pick(10))];
    }
    auto before = SmoothCostOfVotes(votes, settings);
    double largest_change = 0;
    for (int move = 0; move < 60; ++move) {
      for (auto& counts : votes) {
        // From or to the first, or anything.
        const auto winner = std::max_element(counts.begin(), counts.end()) - counts.begin();
        const auto from = move % 3 == 0 ? winner : pick(10);
        if (counts[static_cast<std::size_t>(from)] == 0) continue;
        --counts[static_cast<std::size_t>(from)];
        ++counts[static_cast<std::size_t>(move % 3 == 1 ? winner : pick(10))];
      }
      const auto after = SmoothCostOfVotes(votes, settings);
      EXPECT_LE(std::abs(after.rdp - before.rdp), std::min(before.sensitivity, after.sensitivity));
      EXPECT_LE(std::abs(std::log(after.sensitivity / before.sensitivity)), settings.beta * (1 + 1e-9));
      largest_change = std::max(
          largest_change, std::abs(after.rdp - before.rdp) / std::max(before.sensitivity, after.sensitivity));
      before = after;
    }
    EXPECT_GT(largest_change, 0.01);  // or the test would say nothing
  }
}

// Too few teachers for any clear vote: what answers cost is public, and so must be the size of its noise,
// though some sixty votes more would make a difference.
TEST(SmoothCostOfVotes, IsOfVotesThatSoManyTeachersCanCast) {
  const SmoothVoteSettings settings{.answer = NormalNoise(40), .order = 20, .beta = 0.01};
  ASSERT_LT(GnMaxRdp(AnswerLogQ(Counts{200, 0}, settings.answer), 40, 20), 20 / 1600.0);
  for (std::int64_t first = 20; first <= 40; ++first) {
    const auto found = SmoothCostOfVotes(Votes{{first, 40 - first}}, settings);
    EXPECT_EQ(found.rdp, 20 / 1600.0);
    EXPECT_EQ(found.sensitivity, 0);
  }
}

// One class, all teachers of one mind, none at all.
TEST(SmoothCostOfVotes, KnowsItsEdges) {
  const SmoothVoteSettings settings{.answer = NormalNoise(40), .order = 20, .beta = 0.01};
  EXPECT_EQ(SmoothCostOfVotes(Votes{{250}}, settings).rdp, 0);
  EXPECT_GT(SmoothCostOfVotes(Votes{{250, 0}}, settings).sensitivity, 0);
  // No bound is above the cost whatever the votes are.
  EXPECT_LE(SmoothCostOfVotes(Votes{{125, 125}}, settings).sensitivity, 20 / 1600.0 * (1 + 1e-12));
  EXPECT_GE(SmoothCostOfVotes(Votes{{0, 0}}, settings).sensitivity, 0);
  EXPECT_THROW((void)SmoothCostOfVotes({}, settings), ContractError);
  EXPECT_THROW((void)SmoothCostOfVotes(Votes{{1, 2}, {1, 1}}, settings), ContractError);
  EXPECT_THROW((void)SmoothCostOfVotes(Votes{{1, 2}}, {.answer = NormalNoise(40), .order = 20, .beta = 0}),
               ConfigError);
  EXPECT_THROW((void)SmoothCostOfVotes(Votes{{1, 2}}, {.answer = NormalNoise(40), .order = 1, .beta = 1}),
               ConfigError);
  EXPECT_THROW((void)SmoothCostOfVotes(Votes{{200'000, 2}}, settings), ConfigError);
}

/// The divergence of N(0, s^2) from N(gap, (ratio s)^2), by integration.
double Renyi(double s, double gap, double ratio, double order) {
  const auto log_density = [](double x, double mean, double deviation) {
    const double u = (x - mean) / deviation;
    return -u * u / 2 - std::log(deviation * std::sqrt(2 * M_PI));
  };
  constexpr int kSteps = 400'000;
  const double width = 400 * s;
  double sum = 0;
  for (int i = 0; i <= kSteps; ++i) {
    const double x = -width + 2 * width * i / kSteps;
    sum += std::exp(order * log_density(x, 0, s) + (1 - order) * log_density(x, gap, ratio * s));
  }
  return std::log(sum * 2 * width / kSteps) / (order - 1);
}

TEST(SmoothNoiseRdp, IsTheLargestDivergenceOfWhatSmoothnessAllows) {
  for (const double order : {2.0, 8.0, 20.0}) {
    for (const double beta : {0.004, 0.02}) {
      const double noise = 5;
      const double bound = SmoothNoiseRdp(beta, noise, order);
      double most = 0;
      // Both ways round: sensitivities 1 and ratio, means apart by the smaller one.
      for (const double ratio :
           {std::exp(-beta), std::exp(-beta / 2), 1.0, std::exp(beta / 2), std::exp(beta)})
        most = std::max(most, Renyi(noise, std::min(1.0, ratio), ratio, order));
      EXPECT_LE(most, bound * (1 + 1e-9));
      EXPECT_GT(most, 0.99 * bound);
    }
  }
  EXPECT_NEAR(SmoothNoiseRdp(1e-12, 5, 8), 8 / 50.0, 1e-9);    // a plain Gaussian
  EXPECT_THROW((void)SmoothNoiseRdp(0.1, 5, 6), ConfigError);  // 6 (1 - e^-0.2) = 1.09
  EXPECT_THROW((void)SmoothNoiseRdp(0, 5, 6), ConfigError);
  EXPECT_THROW((void)SmoothNoiseRdp(0.1, 0, 2), ConfigError);
  EXPECT_THROW((void)SmoothNoiseRdp(0.1, 5, 1), ConfigError);
}

TEST(OffsetOfSmoothBound, CoversTheNoiseOfTheOffsetsOwnSensitivityToo) {
  const double failure = std::erfc(2 / std::sqrt(2.0)) / 2;  // two deviations
  const double offset = OffsetOfSmoothBound(0.01, 5, failure);
  EXPECT_NEAR(offset, 2 * 5 * (1 + offset * std::expm1(0.01)), 1e-9);
  EXPECT_THROW((void)OffsetOfSmoothBound(0.1, 5, failure), ConfigError);
  EXPECT_THROW((void)OffsetOfSmoothBound(0.01, 5, 0.5), ConfigError);
  EXPECT_THROW((void)OffsetOfSmoothBound(0.01, 5, 0), ConfigError);
}

}  // namespace
}  // namespace trefoil::dp
