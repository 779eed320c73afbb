#include "dp/mechanisms/local_randomiser.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "base/error.h"
#include "tests/dp/chi_square.h"
#include "tests/dp/reference_vectors.h"
#include "tests/dp/stream.h"

namespace trefoil::dp {
namespace {

using Value = std::optional<std::size_t>;

TEST(LocalRandomiser, MatchesTheReferenceVectors) {
  const auto vectors = ReferenceVectors("local_dp.json");
  const auto& epsilons = vectors.at("epsilon");
  for (std::size_t i = 0; i < epsilons.size(); ++i) {
    const double epsilon = epsilons[i];
    const auto near = [&](double found, const char* key) {
      // The vectors have nine digits; epsilon is rounded down by 2^-32 at most.
      EXPECT_NEAR(found, vectors.at(key)[i].get<double>(), 1e-8) << key << ' ' << epsilon;
    };
    near(LocalRandomiser(Randomiser::kKary, 9, epsilon).law().p, "krr_p_k10");
    near(LocalRandomiser(Randomiser::kOptimisedUnary, 9, epsilon).law().q, "oue_q");
    near(LocalRandomiser(Randomiser::kSymmetricUnary, 9, epsilon).law().p, "sue_p");
  }
  EXPECT_NEAR(LocalRandomiser(Randomiser::kTwoCoins, 1, {}).law().epsilon,
              vectors.at("randomized_response_two_coins_epsilon").get<double>(), 1e-15);
}

struct RandomiserCase {
  const char* name;
  Randomiser randomiser;
  std::size_t values;
  std::optional<double> epsilon;
};

class LocalRandomiserTest : public testing::TestWithParam<RandomiserCase> {
 protected:
  LocalRandomiser randomiser_{GetParam().randomiser, GetParam().values, GetParam().epsilon};

  /// The probability of every report, a set of values as bits, from the randomiser's definition.
  [[nodiscard]] std::vector<double> Probabilities(Value value) const {
    const double p = randomiser_.law().p;
    const double q = randomiser_.law().q;
    const auto values = GetParam().values;
    std::vector<double> all(std::size_t{1} << values);
    for (std::size_t report = 0; report < all.size(); ++report) {
      if (GetParam().randomiser == Randomiser::kKary) {
        const bool truth = value ? report == std::size_t{1} << *value : report == 0;
        all[report] = truth ? p : (report & (report - 1)) == 0 ? q : 0;
        continue;
      }
      all[report] = 1;
      for (std::size_t v = 0; v < values; ++v) {
        const double one = value == v ? p : q;
        all[report] *= (report >> v & 1) != 0 ? one : 1 - one;
      }
    }
    return all;
  }

  [[nodiscard]] std::vector<Value> AllValues() const {
    std::vector<Value> all{std::nullopt};
    for (std::size_t v = 0; v < GetParam().values; ++v) all.emplace_back(v);
    return all;
  }
};

TEST_P(LocalRandomiserTest, DrawsReportsOfItsLaw) {
  constexpr int kDraws = 100'000;
  for (const auto& value : AllValues()) {
    auto stream = FixedStream(51);
    const auto law = Probabilities(value);
    std::vector<std::size_t> seen(law.size());
    for (int i = 0; i < kDraws; ++i) {
      std::vector<std::int64_t> counts(GetParam().values);
      randomiser_.Report(stream, value, counts);
      std::size_t report = 0;
      for (std::size_t v = 0; v < counts.size(); ++v) report |= static_cast<std::size_t>(counts[v]) << v;
      ++seen.at(report);
    }
    std::vector<std::size_t> possible;
    std::vector<double> probabilities;
    for (std::size_t report = 0; report < law.size(); ++report) {
      if (law[report] == 0) {
        EXPECT_EQ(seen[report], 0U);
        continue;
      }
      possible.push_back(seen[report]);
      probabilities.push_back(law[report]);
    }
    ExpectFits(possible, probabilities, kDraws);
  }
}

// Replaced: no report is more than exp(epsilon) times as likely, and some pair comes up to it. Added or
// removed, a record stands against one without a value: the same of `added`.
TEST_P(LocalRandomiserTest, KeepsItsEpsilonBetweenAnyTwoRecords) {
  double largest = 0;
  double added = 0;
  for (const auto& one : AllValues()) {
    for (const auto& other : AllValues()) {
      const auto p = Probabilities(one);
      const auto q = Probabilities(other);
      for (std::size_t report = 0; report < p.size(); ++report) {
        if (!(p[report] > 0)) continue;
        const double loss = std::log(p[report] / q[report]);
        largest = std::max(largest, loss);
        if (!one || !other) added = std::max(added, loss);
      }
    }
  }
  const auto& law = randomiser_.law();
  EXPECT_LE(largest, law.epsilon + 1e-12);
  EXPECT_GE(largest, law.epsilon - 1e-9);
  EXPECT_LE(added, law.added + 1e-12);
  EXPECT_GE(added, law.added - 1e-9);
  const double epsilon = GetParam().epsilon.value_or(std::log(3.0));
  double expected = epsilon;
  if (GetParam().randomiser == Randomiser::kSymmetricUnary) expected = epsilon / 2;
  if (GetParam().randomiser == Randomiser::kOptimisedUnary) expected = std::log((std::exp(epsilon) + 1) / 2);
  EXPECT_NEAR(law.added, expected, 1e-9);
  EXPECT_NEAR(law.epsilon, GetParam().values > 1 ? epsilon : expected, 1e-9);
}

/// The law of what opens, a count a value, of records whose reports are summed.
std::map<std::vector<std::size_t>, double> SumLaw(const std::vector<std::vector<double>>& reports,
                                                  std::size_t values) {
  std::map<std::vector<std::size_t>, double> law{{std::vector<std::size_t>(values), 1.0}};
  for (const auto& report : reports) {
    std::map<std::vector<std::size_t>, double> next;
    for (const auto& [counts, mass] : law) {
      for (std::size_t bits = 0; bits < report.size(); ++bits) {
        auto more = counts;
        for (std::size_t v = 0; v < values; ++v) more[v] += bits >> v & 1;
        next[more] += mass * report[bits];
      }
    }
    law = std::move(next);
  }
  return law;
}

// Three declared records, of which none to all three are there, in any order: each data set against every one
// with a record more, put anywhere. What opens has a ratio of e^added at most, both ways.
TEST_P(LocalRandomiserTest, KeepsItsEpsilonForWhatOpensOfARecordAddedAnywhere) {
  constexpr std::size_t kDeclared = 3;
  if (GetParam().values > 3) GTEST_SKIP() << "too many reports to try all";
  std::vector<std::vector<Value>> sets{{}};
  for (std::size_t begin = 0, size = 0; size + 1 < kDeclared; ++size) {
    const std::size_t end = sets.size();
    for (; begin < end; ++begin) {
      for (const auto& value : AllValues()) {
        auto longer = sets[begin];
        longer.push_back(value);
        sets.push_back(longer);
      }
    }
  }
  const auto law_of = [&](std::vector<Value> records) {
    records.resize(kDeclared);  // the missing ones have no value
    std::vector<std::vector<double>> reports;
    for (const auto& record : records) reports.push_back(Probabilities(record));
    return SumLaw(reports, GetParam().values);
  };
  double largest = 0;
  for (const auto& records : sets) {
    const auto without = law_of(records);
    for (std::size_t place = 0; place <= records.size(); ++place) {
      for (const auto& value : AllValues()) {
        auto longer = records;
        longer.insert(longer.begin() + static_cast<std::ptrdiff_t>(place), value);
        const auto with = law_of(longer);
        for (const auto& [counts, mass] : with) {
          if (mass > 0) largest = std::max(largest, std::abs(std::log(mass / without.at(counts))));
        }
      }
    }
  }
  EXPECT_LE(largest, randomiser_.law().added + 1e-12);
  EXPECT_GT(largest, 0.3 * randomiser_.law().added);
}

// The largest epsilons that a job may have.
TEST(LocalRandomiser, HasALawForEveryEpsilon) {
  for (const auto randomiser :
       {Randomiser::kKary, Randomiser::kSymmetricUnary, Randomiser::kOptimisedUnary}) {
    const auto law = LocalRandomiser(randomiser, 4, 1024).law();
    EXPECT_GT(law.p, 0.4);
    EXPECT_GE(law.q, 0);
    EXPECT_LT(law.q, 1e-200);
    EXPECT_EQ(law.epsilon, 1024);
    EXPECT_LE(law.added, 1024);
    EXPECT_GT(law.added, 500);
  }
}

TEST_P(LocalRandomiserTest, IsDebiasedWithIntervalsThatHold) {
  constexpr int kRepetitions = 300;
  constexpr std::int64_t kRecords = 3000;
  constexpr std::int64_t kPadding = 500;
  constexpr std::int64_t kWithFirst = 900;
  auto stream = FixedStream(52);
  double sum = 0;
  double squares = 0;
  int covered = 0;
  for (int i = 0; i < kRepetitions; ++i) {
    std::vector<std::int64_t> counts(GetParam().values);
    for (std::int64_t record = 0; record < kRecords + kPadding; ++record) {
      Value value;
      if (record < kWithFirst)
        value = 0;
      else if (record < kRecords && GetParam().values > 1)
        value = 1 + static_cast<std::size_t>(record) % (GetParam().values - 1);
      randomiser_.Report(stream, value, counts);
    }
    const auto estimate = Debias(randomiser_.law(), kRecords + kPadding, counts[0], 0.95);
    sum += estimate.count;
    squares += (estimate.count - kWithFirst) * (estimate.count - kWithFirst);
    covered += estimate.low <= kWithFirst && kWithFirst <= estimate.high ? 1 : 0;
  }
  // Five standard errors each: below one false alarm in a million (normal approximation).
  EXPECT_NEAR(sum / kRepetitions, kWithFirst, 5 * std::sqrt(squares / kRepetitions / kRepetitions));
  EXPECT_NEAR(covered / double{kRepetitions}, 0.95, 5 * std::sqrt(0.95 * 0.05 / kRepetitions));
}

INSTANTIATE_TEST_SUITE_P(
    Randomisers, LocalRandomiserTest,
    testing::Values(RandomiserCase{"two_coins", Randomiser::kTwoCoins, 1, {}},
                    RandomiserCase{"k_ary_of_one", Randomiser::kKary, 1, 0.7},
                    RandomiserCase{"k_ary_of_four", Randomiser::kKary, 4, 1.5},
                    RandomiserCase{"symmetric_of_one", Randomiser::kSymmetricUnary, 1, 1.0},
                    RandomiserCase{"symmetric_of_four", Randomiser::kSymmetricUnary, 4, 2.2},
                    RandomiserCase{"optimised_of_three", Randomiser::kOptimisedUnary, 3, 1.0}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(LocalRandomiser, RefusesWhatIsNone) {
  EXPECT_THROW(LocalRandomiser(Randomiser::kKary, 4, 0.0), ConfigError);
  EXPECT_THROW(LocalRandomiser(Randomiser::kKary, 4, std::nan("")), ConfigError);
  EXPECT_THROW(LocalRandomiser(Randomiser::kKary, 4, {}), ContractError);
  EXPECT_THROW(LocalRandomiser(Randomiser::kKary, 0, 1.0), ContractError);
  EXPECT_THROW(LocalRandomiser(Randomiser::kTwoCoins, 2, {}), ContractError);
  auto stream = FixedStream(53);
  std::vector<std::int64_t> counts(4);
  EXPECT_THROW(LocalRandomiser(Randomiser::kKary, 4, 1.0).Report(stream, 4, counts), ContractError);
}

}  // namespace
}  // namespace trefoil::dp
