#include "dp/pate_sensitivity.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "dp/pate.h"

namespace trefoil::dp {
namespace {

using Counts = std::vector<std::int64_t>;
using Votes = std::vector<Counts>;

/// All ways in which `teachers` vote for one of `classes`.
std::vector<Counts> AllCounts(std::int64_t teachers, std::size_t classes) {
  if (classes == 1) return {{teachers}};
  std::vector<Counts> all;
  for (std::int64_t first = 0; first <= teachers; ++first) {
    for (auto rest : AllCounts(teachers - first, classes - 1)) {
      rest.insert(rest.begin(), first);
      all.push_back(rest);
    }
  }
  return all;
}

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

/// The definition, query by query.
double PlainCost(const Votes& votes, const SmoothVoteSettings& settings) {
  double sum = 0;
  for (const auto& counts : votes) {
    const double answer = GnMaxRdp(GnMaxLogQ(counts, settings.sigma), settings.sigma, settings.order);
    if (!settings.threshold) {
      sum += answer;
      continue;
    }
    const auto law = NoisyThreshold(counts, *settings.threshold, settings.threshold_sigma);
    sum += std::exp(law.log_answered) * answer +
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
// far above (5.4 times at most, here): one moved vote is taken to change the winner's lead over every other
// class by two.
TEST(SmoothCostOfVotes, BoundsWhatTryingAllNeighboursFinds) {
  struct Case {
    std::int64_t teachers;
    std::size_t classes;
    bool two_queries;
    SmoothVoteSettings settings;
  };
  const std::vector<Case> cases{
      {12, 3, false, {.sigma = 1.5, .order = 4, .beta = 0.1}},
      {12, 3, false, {.sigma = 0.8, .order = 2, .beta = 0.4}},
      {20, 2, false, {.sigma = 2, .order = 8, .beta = 0.05}},
      {9, 4, false, {.sigma = 1, .order = 3, .beta = 0.2}},
      {6, 3, true, {.sigma = 1, .order = 3, .beta = 0.1}},
      {12, 3, false, {.sigma = 1.5, .threshold = 7, .threshold_sigma = 2, .order = 4, .beta = 0.1}},
      {6, 3, true, {.sigma = 1, .threshold = 4, .threshold_sigma = 3, .order = 3, .beta = 0.2}},
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
  EXPECT_LT(loosest, 6);
}

// Too few teachers for any clear vote: what answers cost is public, and so must be the size of its noise,
// though some sixty votes more would make a difference.
TEST(SmoothCostOfVotes, IsOfVotesThatSoManyTeachersCanCast) {
  const SmoothVoteSettings settings{.sigma = 40, .order = 20, .beta = 0.01};
  ASSERT_LT(GnMaxRdp(GnMaxLogQ(Counts{200, 0}, 40), 40, 20), 20 / 1600.0);
  for (std::int64_t first = 20; first <= 40; ++first) {
    const auto found = SmoothCostOfVotes(Votes{{first, 40 - first}}, settings);
    EXPECT_EQ(found.rdp, 20 / 1600.0);
    EXPECT_EQ(found.sensitivity, 0);
  }
}

// One class, all teachers of one mind, none at all.
TEST(SmoothCostOfVotes, KnowsItsEdges) {
  const SmoothVoteSettings settings{.sigma = 40, .order = 20, .beta = 0.01};
  EXPECT_EQ(SmoothCostOfVotes(Votes{{250}}, settings).rdp, 0);
  EXPECT_GT(SmoothCostOfVotes(Votes{{250, 0}}, settings).sensitivity, 0);
  // No bound is above the cost whatever the votes are.
  EXPECT_LE(SmoothCostOfVotes(Votes{{125, 125}}, settings).sensitivity, 20 / 1600.0 * (1 + 1e-12));
  EXPECT_GE(SmoothCostOfVotes(Votes{{0, 0}}, settings).sensitivity, 0);
  EXPECT_THROW((void)SmoothCostOfVotes({}, settings), ContractError);
  EXPECT_THROW((void)SmoothCostOfVotes(Votes{{1, 2}, {1, 1}}, settings), ContractError);
  EXPECT_THROW((void)SmoothCostOfVotes(Votes{{1, 2}}, {.sigma = 40, .order = 20, .beta = 0}), ConfigError);
  EXPECT_THROW((void)SmoothCostOfVotes(Votes{{1, 2}}, {.sigma = 40, .order = 1, .beta = 1}), ConfigError);
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
