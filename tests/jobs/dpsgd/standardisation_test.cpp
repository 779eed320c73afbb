#include "jobs/dpsgd/standardisation.h"

#include <gtest/gtest.h>
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "dp/record/record.h"
#include "jobs/dpsgd/settings/training_settings.h"
#include "jobs/statistics/layout.h"
#include "ml/dpsgd/training.h"
#include "ml/on_shares/correct_counts.h"
#include "tests/apps/temporary_folder.h"
#include "tests/support/fixed_key.h"
#include "tests/support/run_parties.h"

namespace trefoil::jobs {
namespace {

using namespace testing_support;  // NOLINT(google-build-using-namespace): test helpers only
using mpc::RingMatrix;

/// Two numbers, of which the second may be missing, beside a column of each other kind and the label.
constexpr const char* kJob = R"(version = 1
type = "dpsgd"
name = "trial"
[data]
name = "trial"
format = "csv"
rows = [400, 400, 400]
classes = 3
label = { column = "y", values = ["u", "v", "w"] }
column = [
  { name = "a", low = -10.0, high = 10.0, missing = [] },
  { name = "skipped", kind = "ignore" },
  { name = "c", kind = "category", values = ["p", "q"] },
  { name = "b", low = 0.0, high = 4.0, fill = 1.5, missing_indicator = true },
  { name = "d", kind = "date", format = "%Y-%m-%d", origin = "2000-01-01", scale = 1000.0 },
]
[features]
standardise = "private"
standardise_share = 0.2
[training]
steps = 5
expected_batch = 120
max_batch_per_owner = 90
learning_rate = 1
[privacy]
epsilon = 2.0
delta = 1e-5
clip = 1
)";

DpsgdSettings StandardisedJob(const std::vector<std::string>& assignments = {}) {
  const TemporaryFolder folder;
  return ReadDpsgdSettings(folder.Write("x.toml", kJob), assignments);
}

struct Cells {
  double a = 0;
  std::optional<double> b{};
};

RingMatrix SumOf(const DpsgdSettings& job, const std::vector<Cells>& rows) {
  std::string text = "d,a,skipped,c,b,y\n";
  for (const auto& row : rows)
    text += fmt::format("2001-02-03,{},-,p,{},v\n", row.a, row.b ? fmt::format("{}", *row.b) : "?");
  const TemporaryFolder folder;
  return SumOfMoments(job, data::OneFile(folder.Write("t.csv", text)), 0);
}

std::vector<Cells> DrawCells(std::size_t rows, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::vector<Cells> table;
  for (std::size_t k = 0; k < rows; ++k) {
    Cells row{.a = 3 + 4 * normal(random)};  // some beyond 10
    if (random() % 5 != 0) row.b = 1 + 0.25 * normal(random);
    table.push_back(row);
  }
  return table;
}

struct Moments {
  double mean = 0;
  double deviation = 0;
};

Moments MomentsOf(const std::vector<double>& values) {
  Moments found;
  for (const double value : values) found.mean += value / static_cast<double>(values.size());
  for (const double value : values)
    found.deviation += std::pow(value - found.mean, 2) / static_cast<double>(values.size());
  found.deviation = std::sqrt(found.deviation);
  return found;
}

const data::Column& ColumnOf(const DpsgdSettings& job, const std::string& name) {
  return *std::find_if(job.data.columns.begin(), job.data.columns.end(),
                       [&](const auto& column) { return column.name == name; });
}

TEST(Standardised, HasThePlainMomentsOfNumbersWithinTheirRangeWithoutNoise) {
  const auto job = StandardisedJob();
  const auto rows = DrawCells(300, 1);
  std::vector<double> a;
  std::vector<double> b;
  for (const auto& row : rows) {
    a.push_back(std::clamp(row.a, -10.0, 10.0));
    if (row.b) b.push_back(std::clamp(*row.b, 0.0, 4.0));
  }
  const auto found = Standardised(job, SumOf(job, rows), 0);
  for (const auto& [name, values] : {std::pair{"a", a}, std::pair{"b", b}}) {
    const auto plain = MomentsOf(values);
    EXPECT_NEAR(ColumnOf(found, name).mean, plain.mean, 1e-5) << name;
    EXPECT_NEAR(ColumnOf(found, name).scale, plain.deviation, 1e-5) << name;
  }
  // All else is as it was, and the job reads back as one whose means and scales are given.
  EXPECT_FALSE(found.features.standardise.on);
  EXPECT_EQ(ColumnOf(found, "d").scale, 1000);
  const auto again = ParseDpsgdJson(DpsgdJson(found), "x");
  EXPECT_EQ(DpsgdJson(again), DpsgdJson(found));
  EXPECT_EQ(ColumnOf(again, "a").mean, ColumnOf(found, "a").mean);
  EXPECT_EQ(ColumnOf(again, "a").high, 10);
  EXPECT_FALSE(SettingsOf(again).standardisation);
  const auto json = StandardisationJson(found, 2);
  EXPECT_EQ(json.at("columns").size(), 2U);
  EXPECT_EQ(json.at("columns").at(1).at("scale"), ColumnOf(found, "b").scale);
  EXPECT_EQ(OpenedMoments(found).size(), 4U);
  // A label that is declared as a column, too, is none that is standardised.
  const auto declared = StandardisedJob({"data.column=[{name=\"y\"}, {name=\"a\", low=-10.0, high=10.0}]"});
  EXPECT_EQ(StandardisationEvent(declared).coordinates, 1 + 3);
}

/// Searched: at the ends, in the middle, far beyond, missing, and anywhere.
TEST(SumOfMoments, MovesByItsBoundAtMostForARecordMore) {
  const auto job = StandardisedJob();
  const auto rows = DrawCells(5, 2);
  const auto before = SumOf(job, rows);
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> any(-12, 12);
  std::vector<Cells> candidates;
  for (const double a : {-10.0, 0.0, 10.0, 1e30, -1e30, 1e-9, 10 * std::sqrt(0.5)}) {
    for (const std::optional<double> b : {std::optional(0.0), std::optional(2.0), std::optional(4.0),
                                          std::optional(-1e25), std::optional<double>()})
      candidates.push_back({.a = a, .b = b});
  }
  for (int k = 0; k < 200; ++k) candidates.push_back({.a = any(random), .b = any(random)});
  double most = 0;
  for (const auto& candidate : candidates) {
    auto more = rows;
    more.push_back(candidate);
    const RingMatrix moved = SumOf(job, more) - before;
    std::int64_t squares = 0;  // of 2^60
    for (mpc::Index place = 0; place < moved.size(); ++place) {
      const auto one = mpc::Signed(moved(place, 0));
      squares += one * one;
    }
    EXPECT_LE(squares, std::int64_t{1} << (2 * kStatisticsBits)) << candidate.a;
    most = std::max(most, std::ldexp(static_cast<double>(squares), -2 * kStatisticsBits));
  }
  EXPECT_GT(most, 1 - 1e-7);  // and no more is charged than a record can do
}

TEST(StandardisationEvent, TakesItsShareOfEpsilonByItselfAndTheStepsTheRest) {
  const auto job = StandardisedJob();
  const auto event = StandardisationEvent(job);
  EXPECT_EQ(event.coordinates, 1 + 2 + 3);  // records; two of a; two of b, and how often it is missing
  EXPECT_EQ(event.count, 1);
  const auto alone =
      dp::Epsilons({.job_hash = {}, .run_id = {}, .events = {event}}, 1e-5, dp::AccountantKind::kRdp);
  EXPECT_LE(alone.insider, 0.2 * 2);
  EXPECT_GT(alone.insider, 0.2 * 2 * 0.99);
  const auto settings = SettingsOf(job);
  const auto plan = ml::MakePlan(settings);
  ASSERT_EQ(plan.events.size(), 2U);
  EXPECT_EQ(std::get<dp::GaussianReleases>(plan.events[0]).sigma, event.sigma);
  EXPECT_LE(plan.epsilon_insider, 2);
  EXPECT_GT(plan.epsilon_insider, 2 * 0.99);
  auto without = settings;
  without.standardisation.reset();
  EXPECT_GT(plan.sigma, ml::MakePlan(without).sigma);
  // A multiplier of its own is taken as it is.
  EXPECT_EQ(
      StandardisationEvent(StandardisedJob({"features={standardise=\"private\", standardise_sigma=3.0}"}))
          .sigma,
      3);
}

/// Three parties' records, one of which has none: the plain integers given the same noise.
TEST(OpenMoments, IsThePlainResultGivenTheSameNoise) {
  const auto job = StandardisedJob();
  const auto event = StandardisationEvent(job);
  const std::array tables{DrawCells(150, 5), DrawCells(0, 6), DrawCells(200, 7)};
  const auto stream = [](int party) { return RandomStream(FixedKey(static_cast<std::uint8_t>(90 + party))); };
  const auto found = RunParties(Seed{9}, [&](mpc::Context& party) {
    const auto own = SumOf(job, tables.at(static_cast<std::size_t>(party.self())));
    return DpsgdJson(OpenMoments(party, job, event, own, stream(party.self())));
  });
  auto all = tables[0];
  all.insert(all.end(), tables[2].begin(), tables[2].end());
  RingMatrix plain = SumOf(job, all);
  for (int party = 0; party < 3; ++party)
    plain += ml::CountNoise(stream(party), event.sigma, kStatisticsNorm, event.coordinates).values();
  for (const auto& one : found) EXPECT_EQ(one, DpsgdJson(Standardised(job, plain, event.sigma)));
}

TEST(Standardised, StaysWithinItsRangeWhateverNoiseDoes) {
  const auto job = StandardisedJob();
  const auto event = StandardisationEvent(job);
  std::mt19937_64 random(4);
  for (int k = 0; k < 200; ++k) {
    RingMatrix noise(event.coordinates, 1);
    for (mpc::Index place = 0; place < noise.size(); ++place) noise(place, 0) = random();
    const auto found = Standardised(job, noise, event.sigma);
    for (const auto* name : {"a", "b"}) {
      const auto& column = ColumnOf(found, name);
      EXPECT_GE(column.mean, *column.low);
      EXPECT_LE(column.mean, *column.high);
      EXPECT_GE(column.scale, kLeastScale * (*column.high - *column.low));
      EXPECT_LE(column.scale, (*column.high - *column.low) / 2);
    }
  }
}

TEST(ScalesOf, DrawsVariancesTowardsTheirMeanByTheirNoise) {
  // 0.3 on average, the squared distances 0.1 in all, of which 2 x 0.1^2 is noise: a fifth of the way.
  const auto found = ScalesOf({{0.1, 0.1}, {0.2, 0.1}, {0.3, 0.1}, {0.4, 0.1}, {0.5, 0.1}});
  const std::array expected{0.14, 0.22, 0.3, 0.38, 0.46};
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t k = 0; k < expected.size(); ++k) EXPECT_NEAR(found[k], std::sqrt(expected[k]), 1e-14) << k;
  // Noise that all have in common sets none apart: of 0.0125 - 0.0025 each the same fifth.
  std::vector<NoisyVariance> alike;
  for (int k = 1; k <= 5; ++k) alike.push_back({k / 10.0, std::sqrt(0.0125), 0.05});
  const auto same = ScalesOf(alike);
  for (std::size_t k = 0; k < expected.size(); ++k) EXPECT_NEAR(same[k], std::sqrt(expected[k]), 1e-14) << k;
  // Where they are no further apart than noise takes them, all the way, which leaves half of it on each.
  for (const double scale : ScalesOf({{0.2, 0.2}, {0.3, 0.2}, {0.4, 0.2}, {0.3, 0.2}}))
    EXPECT_NEAR(scale, std::sqrt(0.3), 1e-14);
  for (const double scale : ScalesOf({{-0.2, 0.2}, {-0.1, 0.2}, {-0.1, 0.2}, {0, 0.2}}))
    EXPECT_NEAR(scale, std::sqrt(0.1), 1e-14);
}

TEST(ScalesOf, DrawsNoVarianceFurtherThanTwiceItsNoise) {
  std::vector<NoisyVariance> variances(30, {.value = 0.02, .noise = 0.2});
  variances[7].value = 1;
  const auto found = ScalesOf(variances);
  EXPECT_NEAR(found[7], std::sqrt(0.6), 1e-14);
  EXPECT_NEAR(found[0], std::sqrt(0.02 + 0.98 / 30), 1e-14);
  // A column of which nothing is known, as nearly all of its values are missing, says nothing of the others.
  auto certain = std::vector<NoisyVariance>(6, {.value = 0.04, .noise = 1e-4});
  certain[3] = {.value = -50, .noise = 40};
  for (const std::size_t k : {0U, 5U}) EXPECT_NEAR(ScalesOf(certain)[k], 0.2, 1e-3) << k;
  // Of the others' mean of 0.04 its 0 makes 1/30, a third of the way; -50 would take them to their noise.
  for (auto& variance : certain) variance.noise = std::max(variance.noise, 0.02);
  for (const std::size_t k : {0U, 5U}) EXPECT_NEAR(ScalesOf(certain)[k], std::sqrt(0.0379), 3e-4) << k;
}

TEST(ScalesOf, LeavesVariancesThatAreFewOrExactOrAlike) {
  for (const auto& variances : {std::vector<NoisyVariance>{{0.09, 0.01}},
                                {{0.09, 0.01}, {0.16, 0.01}, {0.25, 0.01}},
                                {{0.09, 0}, {0.16, 0}, {0.25, 0}, {1e-12, 0}, {0.01, 0}},
                                std::vector<NoisyVariance>(5, {0.04, 0.01})}) {
    const auto found = ScalesOf(variances);
    for (std::size_t k = 0; k < found.size(); ++k)
      EXPECT_NEAR(found[k], std::sqrt(variances[k].value), 1e-14) << variances.size() << " " << k;
  }
  EXPECT_NEAR(ScalesOf({{-0.3, 0.09}}).at(0), 0.3, 1e-14);  // less than its noise: that
  EXPECT_NEAR(ScalesOf({{-0.3, 0.09}, {-0.3, 0.09}, {-0.3, 0.09}}).at(0), 0.3, 1e-14);
  EXPECT_EQ(ScalesOf(std::vector<NoisyVariance>(5)), std::vector<double>(5, 0));
  EXPECT_TRUE(ScalesOf({}).empty());
}

/// Of 20 columns, whose variances are all about the noise or below it, 500 draws are nearer to the true
/// scales than the root of each column's own variance, or noise. Mean squares of logarithms of quotients are
/// 0.079 and 0.186; the former is below half of the latter by eight of its standard deviations.
TEST(ScalesOf, IsNearerToTrueScalesThanEachVarianceByItself) {
  std::mt19937_64 random(8);
  std::normal_distribution<double> normal(0, 0.1);
  double together = 0;
  double alone = 0;
  for (int draw = 0; draw < 500; ++draw) {
    std::vector<NoisyVariance> variances;
    for (int k = 1; k <= 20; ++k)
      variances.push_back({.value = 0.02 + 0.004 * k + normal(random), .noise = 0.1});
    const auto found = ScalesOf(variances);
    for (std::size_t k = 0; k < 20; ++k) {
      const double scale = std::sqrt(0.024 + 0.004 * static_cast<double>(k));
      together += std::pow(std::log(found[k] / scale), 2) / 1e4;
      alone += std::pow(std::log(std::sqrt(std::max(variances[k].value, 0.1)) / scale), 2) / 1e4;
    }
  }
  EXPECT_LT(together, alone / 2) << alone;
}

/// From the opened words to means and scales, in doubles by the definitions of "Standardised features".
TEST(Standardised, IsThePlainShrinkageOfTheNoisyMoments) {
  constexpr int kColumns = 5;
  constexpr double kSigma = 14;
  std::string columns;
  for (int k = 0; k < kColumns; ++k)
    columns += fmt::format("{{name=\"c{}\", low=-1.0, high=3.0, missing=[]}}, ", k);
  const auto job = StandardisedJob({fmt::format("data.column=[{}]", columns)});
  const double unit = std::ldexp(1 / std::sqrt(kColumns + 1.0), kStatisticsBits);
  RingMatrix sum(1 + 2 * kColumns, 1);
  const auto put = [&](mpc::Index place, double value) {
    sum(place, 0) = static_cast<mpc::Word>(static_cast<std::int64_t>(std::llround(unit * value)));
  };
  // 200 records, of which noise has made 210.5, and of z and 1 - z^2 in each column.
  const double count = 210.5;
  put(0, count);
  const std::array sums{-30.0, 10.0, 80.0, -120.0, 0.0};
  const std::array lost{190.0, 150.0, 170.0, 200.0, 60.0};
  for (int k = 0; k < kColumns; ++k) {
    put(1 + 2 * k, sums.at(static_cast<std::size_t>(k)));
    put(2 + 2 * k, lost.at(static_cast<std::size_t>(k)));
  }
  const double e = std::sqrt(1.5) * kSigma * std::sqrt(kColumns + 1.0);  // on each of the sums
  std::vector<double> v;
  std::vector<double> e_v;
  std::vector<double> own;  // the part of e_v that the count has not made
  for (std::size_t k = 0; k < kColumns; ++k) {
    const double m = sums.at(k) / count;
    v.push_back(1 - lost.at(k) / count - m * m);
    const double of_count = lost.at(k) / count + 2 * m * m;  // what v gains by a record fewer, times n
    own.push_back(std::sqrt(1 + 4 * m * m) * e / count);
    e_v.push_back(std::sqrt(1 + 4 * m * m + of_count * of_count) * e / count);
  }
  double mean = 0;
  double squares = 0;
  double noise = 0;
  double own_noise = 0;
  for (std::size_t k = 0; k < kColumns; ++k) {
    mean += v[k] / kColumns;
    own_noise += own[k] * own[k] / kColumns;
    noise += e_v[k] * e_v[k] / kColumns;
  }
  for (const double one : v) squares += (one - mean) * (one - mean);
  const double w = std::max(0.0, 1 - (kColumns - 3) * own_noise / squares);
  ASSERT_GT(w, 0.05);
  ASSERT_LT(w, 0.95);
  const auto found = Standardised(job, sum, kSigma);
  for (std::size_t k = 0; k < kColumns; ++k) {
    const auto& column = ColumnOf(found, fmt::format("c{}", k));
    EXPECT_NEAR(column.mean, 1 + 2 * sums.at(k) / count, 1e-7);
    ASSERT_LT(std::abs((1 - w) * (mean - v[k])), 2 * e_v[k]);
    const double left = std::min(e_v[k], std::sqrt(std::pow(w * e_v[k], 2) + (1 - w * w) * noise / kColumns));
    EXPECT_NEAR(column.scale, 2 * std::sqrt(std::max(w * v[k] + (1 - w) * mean, left)), 1e-7) << k;
  }
}

/// Scales are the same parts of ranges whose squares no double holds as of a range of 1.
TEST(Standardised, TakesEveryRangeThatAJobMayDeclare) {
  const auto scales_of = [](const std::array<double, 4>& ranges) {
    std::string columns;
    for (std::size_t k = 0; k < ranges.size(); ++k)
      columns += fmt::format("{{name=\"c{}\", low=0.0, high={:.1e}, missing=[]}}, ", k, ranges.at(k));
    const auto job = StandardisedJob({fmt::format("data.column=[{}]", columns)});
    RingMatrix sum(9, 1);
    for (mpc::Index place = 0; place < sum.size(); ++place)  // 1 - z^2 is 0.4 to 0.64 on average
      sum(place, 0) = (place == 0 ? mpc::Word{200} : place % 2 ? 20 : 64 + 8 * mpc::Word(place)) << 30;
    const auto found = Standardised(job, sum, 2);
    std::vector<double> scales;
    for (std::size_t k = 0; k < ranges.size(); ++k)
      scales.push_back(ColumnOf(found, fmt::format("c{}", k)).scale / ranges.at(k));
    return scales;
  };
  const auto expected = scales_of({1, 1, 1, 1});
  const auto found = scales_of({1e-190, 1e190, 1, 5e-199});
  for (std::size_t k = 0; k < expected.size(); ++k) {
    EXPECT_GT(expected[k], 0.2);
    EXPECT_NEAR(found[k], expected[k], 1e-14) << k;
  }
}

/// Of a column that has one value only the noise on the variance is what may be said of the scale.
TEST(Standardised, IsNeverByLessThanTheNoiseOnTheVariance) {
  const auto job = StandardisedJob();
  const std::vector<Cells> rows(400, Cells{.a = 2, .b = 2});
  const auto sum = SumOf(job, rows);
  EXPECT_NEAR(ColumnOf(Standardised(job, sum, 0), "a").scale, kLeastScale * 20, 0.01);
  EXPECT_GT(ColumnOf(Standardised(job, sum, 2), "a").scale, 0.5);
  // Without any record the middle of the range, and half of it.
  const auto none = Standardised(job, SumOf(job, {}), 0);
  EXPECT_EQ(ColumnOf(none, "a").mean, 0);
  EXPECT_EQ(ColumnOf(none, "a").scale, 10);
  EXPECT_EQ(ColumnOf(none, "b").mean, 2);
}

}  // namespace
}  // namespace trefoil::jobs
