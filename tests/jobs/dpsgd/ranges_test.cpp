#include "jobs/dpsgd/ranges.h"

#include <gmock/gmock.h>
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

#include "base/error.h"
#include "data/dataset/load.h"
#include "dp/record/record.h"
#include "jobs/dpsgd/settings/training_settings.h"
#include "jobs/dpsgd/standardisation.h"
#include "jobs/statistics/layout.h"
#include "ml/dpsgd/training.h"
#include "ml/noise/noisy_sum.h"
#include "ml/on_shares/correct_counts.h"
#include "ml/plan/run_cost.h"
#include "protocols/arithmetic/agreement.h"
#include "tests/apps/temporary_folder.h"
#include "tests/support/fixed_key.h"
#include "tests/support/protocol_test.h"
#include "tests/support/run_parties.h"

namespace trefoil::jobs {
namespace {

using namespace testing_support;  // NOLINT(google-build-using-namespace): test helpers only
using mpc::Index;
using mpc::RingMatrix;
using testing::HasSubstr;

/// Three columns whose ranges are found, the second of which may miss values, among others.
constexpr const char* kRangedJob = R"(version = 1
type = "dpsgd"
name = "trial"
[data]
name = "trial"
format = "csv"
rows = [400, 400, 400]
classes = 2
label = { column = "y", values = ["u", "v"] }
column = [
  { name = "a", range = "private", missing = [] },
  { name = "skipped", kind = "ignore" },
  { name = "c", kind = "category", values = ["p", "q"], missing_indicator = true },
  { name = "b", range = "private", fill = 1.5, missing_indicator = true },
  { name = "known", low = -2.0, high = 2.0 },
  { name = "d", range = "private" },
]
[features]
standardise = "private"
range_share = 0.25
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

DpsgdSettings RangedJob(const std::vector<std::string>& assignments = {}) {
  const TemporaryFolder folder;
  return ReadDpsgdSettings(folder.Write("x.toml", kRangedJob), assignments);
}

struct GridRow {
  double a = 0;
  std::optional<double> b{};
  double d = 0;
};

data::DataFiles GridTable(const TemporaryFolder& folder, const std::vector<GridRow>& rows) {
  std::string text = "known,d,a,skipped,c,b,y\n";
  for (const auto& row : rows)
    text += fmt::format("0.5,{},{},-,p,{},v\n", row.d, row.a, row.b ? fmt::format("{}", *row.b) : "?");
  return data::OneFile(folder.Write("t.csv", text));
}

RingMatrix CountsOf(const DpsgdSettings& job, const std::vector<GridRow>& rows) {
  const TemporaryFolder folder;
  return CountCells(job, GridTable(folder, rows), 0);
}

std::vector<GridRow> DrawGridRows(std::size_t rows, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::vector<GridRow> table;
  for (std::size_t k = 0; k < rows; ++k) {
    GridRow row{.a = 3000 + 1000 * normal(random), .d = 1e-6 * normal(random)};
    if (random() % 5 != 0) row.b = -40 - 5 * normal(random);
    table.push_back(row);
  }
  return table;
}

const data::Column& ColumnIn(const DpsgdSettings& job, const std::string& name) {
  return *std::find_if(job.data.columns.begin(), job.data.columns.end(),
                       [&](const auto& column) { return column.name == name; });
}

TEST(GridBorder, AscendsByPowersOfTwoOnBothSidesOfZero) {
  EXPECT_EQ(GridBorder(0), -0x1p64);
  EXPECT_EQ(GridBorder(kGridOctaves), -0x1p-64);
  EXPECT_EQ(GridBorder(kGridOctaves + 1), 0x1p-64);
  EXPECT_EQ(GridBorder(kGridCells), 0x1p64);
  for (Index border = 0; border < kGridCells; ++border) {
    EXPECT_LT(GridBorder(border), GridBorder(border + 1));
    EXPECT_EQ(GridBorder(border), -GridBorder(kGridCells - border));
  }
}

TEST(UnitOfCount, IsTheLargestThatKeepsARecordWithinTheBound) {
  for (const Index columns : {1, 2, 3, 4, 5, 7, 30, 64, 1000, 3891}) {
    const auto squares = [&](std::uint64_t unit) {
      return static_cast<dp::Uint128>(unit) * unit * static_cast<std::uint64_t>(columns);
    };
    const auto bound = static_cast<dp::Uint128>(kStatisticsNorm) * kStatisticsNorm;
    EXPECT_TRUE(squares(UnitOfCount(columns)) <= bound) << columns;
    EXPECT_TRUE(squares(UnitOfCount(columns) + 1) > bound) << columns;
  }
}

TEST(CountCells, PutsEveryNumberWhereItLies) {
  const auto job = RangedJob();
  const std::vector<double> values{0,    1e-300, -1e-300, 0x1p-65, -0x1p-65, 0x1p-64, -0x1p-64,
                                   0.75, 1,      1.5,     2,       -1,       -3,      1e6,
                                   -1e6, 0x1p63, 0x1p64,  1e25,    1e300,    -1e300,  -0x1p64};
  const auto unit = UnitOfCount(3);
  for (const double value : values) {
    const auto counts = CountsOf(job, {GridRow{.a = 1, .b = {}, .d = value}});
    Index found = -1;
    for (Index cell = 0; cell < kGridCells; ++cell) {
      EXPECT_EQ(counts(kGridCells + cell, 0), 0U);  // b is missing
      if (counts(2 * kGridCells + cell, 0) == 0) continue;
      EXPECT_EQ(counts(2 * kGridCells + cell, 0), unit);
      EXPECT_EQ(found, -1) << value;
      found = cell;
    }
    ASSERT_GE(found, 0) << value;
    const double inside = std::clamp(value, -0x1p64, 0x1p64);
    EXPECT_GE(inside, GridBorder(found)) << value;
    EXPECT_LE(inside, GridBorder(found + 1)) << value;
    // A border belongs to the cell that is further away from zero, but for the outermost ones.
    if (std::abs(value) < 0x1p64 && std::abs(value) >= 0x1p-64) {
      EXPECT_NE(inside, value > 0 ? GridBorder(found + 1) : GridBorder(found)) << value;
    }
  }
  const auto declared =
      RangedJob({"data.column=[{name=\"a\", low=0.0, high=1.0}]", "features={standardise=\"private\"}"});
  EXPECT_EQ(CountsOf(declared, {}).size(), 0);
}

/// Searched: at borders, far beyond, around zero, missing, and anywhere.
TEST(CountCells, MovesByItsBoundAtMostForARecordMore) {
  const auto job = RangedJob();
  const auto rows = DrawGridRows(5, 2);
  const auto before = CountsOf(job, rows);
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> exponent(-80, 80);
  const std::vector<double> edges{0, 1, -1, 0x1p-64, -0x1p-64, 0x1p64, -0x1p64, 1e300, -1e300, 1e-300};
  std::vector<GridRow> candidates;
  for (const double a : edges) {
    for (const double d : edges) {
      candidates.push_back({.a = a, .b = a, .d = d});
      candidates.push_back({.a = a, .b = {}, .d = d});
    }
  }
  const auto any = [&] { return std::exp2(exponent(random)) * (random() % 2 == 0 ? 1 : -1); };
  for (int k = 0; k < 200; ++k) candidates.push_back({.a = any(), .b = any(), .d = any()});
  double most = 0;
  for (const auto& candidate : candidates) {
    auto more = rows;
    more.push_back(candidate);
    const RingMatrix moved = CountsOf(job, more) - before;
    std::int64_t squares = 0;
    for (Index place = 0; place < moved.size(); ++place) {
      const auto one = mpc::Signed(moved(place, 0));
      squares += one * one;
    }
    EXPECT_LE(squares, std::int64_t{1} << (2 * kStatisticsBits)) << candidate.a << " " << candidate.d;
    most = std::max(most, std::ldexp(static_cast<double>(squares), -2 * kStatisticsBits));
  }
  EXPECT_GT(most, 1 - 1e-7);  // and no more is charged than a record can do
}

/// A column's counts: so many records at each of these values.
std::vector<double> ColumnWith(const std::vector<std::pair<double, double>>& records) {
  std::vector<double> counts(kGridCells);
  for (const auto& [value, count] : records) {
    Index cell = 0;
    while (GridBorder(cell + 1) < value) ++cell;
    counts[static_cast<std::size_t>(cell)] += count;
  }
  return counts;
}

std::pair<double, double> EndsOf(const std::vector<double>& counts, double noise) {
  const auto range = RangeOf(counts, noise);
  return {range.low, range.high};
}

TEST(RangeOf, IsFromTheFirstToTheLastCellThatIsClearlyThere) {
  using Ends = std::pair<double, double>;
  for (const double noise : {0.0, 10.0}) {
    // Beside each other, apart, at zero, and on both sides.
    EXPECT_EQ(EndsOf(ColumnWith({{20, 100}, {40, 300}, {70, 200}}), noise), Ends(16, 128)) << noise;
    EXPECT_EQ(EndsOf(ColumnWith({{0, 900}, {3000, 100}}), noise), Ends(0, 4096)) << noise;
    EXPECT_EQ(EndsOf(ColumnWith({{0.001, 100}, {3000, 300}}), noise), Ends(0x1p-10, 4096)) << noise;
    EXPECT_EQ(EndsOf(ColumnWith({{-3, 100}, {-0.9, 100}, {0.9, 100}, {5, 100}}), noise), Ends(-4, 8))
        << noise;
    EXPECT_EQ(EndsOf(ColumnWith({{-3, 300}, {0, 100}}), noise), Ends(-4, 0)) << noise;
    EXPECT_EQ(EndsOf(ColumnWith({{0, 300}}), noise), Ends(-0x1p-64, 0x1p-64)) << noise;
    // A hundredth at either end is left out, and a cell that has more is not.
    EXPECT_EQ(EndsOf(ColumnWith({{1, 90}, {3, 9820}, {1e9, 90}}), noise), Ends(2, 4)) << noise;
    EXPECT_EQ(EndsOf(ColumnWith({{1.5, 110}, {3, 9780}, {1e9, 110}}), noise), Ends(1, 0x1p30)) << noise;
  }
  // Below its noise a cell by itself does not count; beside others less is enough.
  EXPECT_EQ(EndsOf(ColumnWith({{3, 500}, {1000, 49}}), 10), Ends(2, 4));
  EXPECT_EQ(EndsOf(ColumnWith({{3, 500}, {1000, 51}}), 10), Ends(2, 1024));
  EXPECT_EQ(EndsOf(ColumnWith({{3, 500}, {5, 21}}), 10), Ends(2, 8));
  EXPECT_EQ(EndsOf(ColumnWith({{3, 500}, {5, 19}}), 10), Ends(2, 4));
  // Many that are not clear alone are together.
  EXPECT_EQ(EndsOf(ColumnWith({{1.5, 35}, {3, 35}, {5, 35}, {9, 35}}), 10), Ends(1, 16));
}

TEST(RangeOf, SaysWhetherItIsAboveTheNoise) {
  EXPECT_TRUE(RangeOf(ColumnWith({{3, 51}}), 10).above_noise);
  const auto guess = RangeOf(ColumnWith({{3, 49}}), 10);
  EXPECT_FALSE(guess.above_noise);
  EXPECT_EQ(guess.high, 4);
  const auto none = RangeOf(std::vector<double>(kGridCells, -1), 10);
  EXPECT_FALSE(none.above_noise);
  EXPECT_EQ(none.low, -0x1p-64);
  EXPECT_EQ(none.high, 0x1p-64);
  EXPECT_FALSE(RangeOf(std::vector<double>(kGridCells), 0).above_noise);
  EXPECT_TRUE(RangeOf(ColumnWith({{3, 1}}), 0).above_noise);
}

/// One of 20,000 columns of pure noise is above it with a probability below 2.1e-4 each, by adding up that of
/// all stretches: more than 15 are in one of 10^5 runs at most.
TEST(RangeOf, TakesNoiseForRecordsSeldom) {
  std::mt19937_64 random(5);
  std::normal_distribution<double> normal(0, 7);
  int above = 0;
  for (int draw = 0; draw < 20'000; ++draw) {
    std::vector<double> counts(kGridCells);
    for (double& count : counts) count = normal(random);
    if (RangeOf(counts, 7).above_noise) ++above;
  }
  EXPECT_LE(above, 15);
}

/// Every stretch is tried, in place of one pass; then those to the right and left of the largest.
std::pair<double, double> PlainEnds(const std::vector<double>& counts, double noise) {
  struct Best {
    std::size_t first = 0;
    std::size_t last = 0;
    double excess = -1e300;
  };
  const auto best_within = [&](std::size_t from, std::size_t to) {
    Best best;
    for (std::size_t first = from; first < to; ++first) {
      double excess = 0;
      for (std::size_t last = first; last < to; ++last) {
        excess += counts[last] - 2 * noise;
        if (excess > best.excess) best = {.first = first, .last = last, .excess = excess};
      }
    }
    return best;
  };
  std::vector<bool> held(counts.size());
  const auto hold = [&](const Best& best) {
    for (std::size_t cell = best.first; cell <= best.last; ++cell) held[cell] = true;
  };
  const auto largest = best_within(0, counts.size());
  hold(largest);
  for (auto next = best_within(largest.last + 1, counts.size()); next.excess >= 3 * noise;
       next = best_within(next.last + 1, counts.size()))
    hold(next);
  for (auto next = best_within(0, largest.first); next.excess >= 3 * noise; next = best_within(0, next.first))
    hold(next);
  double all = 0;
  for (std::size_t cell = 0; cell < counts.size(); ++cell) all += held[cell] ? counts[cell] : 0;
  std::size_t first = 0;
  for (double beyond = 0;; ++first) {
    if (held[first] && (beyond += counts[first]) > 0.01 * all) break;
  }
  std::size_t last = counts.size() - 1;
  for (double beyond = 0;; --last) {
    if (held[last] && (beyond += counts[last]) > 0.01 * all) break;
  }
  return {GridBorder(static_cast<Index>(first)), GridBorder(static_cast<Index>(last + 1))};
}

TEST(RangeOf, IsThePlainChoiceAmongAllStretches) {
  std::mt19937_64 random(6);
  std::normal_distribution<double> normal(0, 10);
  int apart = 0;
  for (int draw = 0; draw < 200; ++draw) {
    std::vector<double> counts(kGridCells);
    for (double& count : counts) count = normal(random);
    const auto peaks = 1 + random() % 4;
    for (std::size_t peak = 0; peak < peaks; ++peak) {
      const auto at = 5 + random() % 100;  // below zero, whose cell has a rule of its own
      for (std::size_t cell = at; cell < at + 1 + random() % 6; ++cell)
        counts[cell] += 20 * static_cast<double>(random() % 8);
    }
    const auto plain = PlainEnds(counts, 10);
    EXPECT_EQ(EndsOf(counts, 10), plain) << draw;
    if (plain.first / plain.second > 256) ++apart;
  }
  EXPECT_GT(apart, 20);  // stretches beside the largest were taken, too
}

TEST(WithRanges, DeclaresWhatTheCountsGiveAndReadsBack) {
  const auto job = RangedJob();
  const auto found = WithRanges(job, CountsOf(job, DrawGridRows(400, 1)), 0);
  EXPECT_TRUE(found.unsure.empty());
  EXPECT_EQ(*ColumnIn(found.job, "a").high, 8192);
  EXPECT_EQ(*ColumnIn(found.job, "b").low, -64);
  EXPECT_EQ(*ColumnIn(found.job, "b").high, -16);
  EXPECT_LT(*ColumnIn(found.job, "d").high, 4e-6);
  EXPECT_GE(*ColumnIn(found.job, "d").high, 0x1p-19);
  EXPECT_EQ(*ColumnIn(found.job, "known").low, -2);
  EXPECT_EQ(CountedCells(found.job), 0);
  const auto json = DpsgdJson(found.job);
  EXPECT_THAT(json, testing::Not(HasSubstr("range")));
  EXPECT_EQ(DpsgdJson(ParseDpsgdJson(json, "x")), json);
  // Then its moments are those of the job with these ranges.
  EXPECT_EQ(StandardisationEvent(found.job).coordinates, StandardisationEvent(job).coordinates);
  // Noise that hides all of them leaves ranges that say so.
  EXPECT_EQ(WithRanges(job, CountsOf(job, DrawGridRows(400, 1)), 1e5).unsure,
            (std::vector<std::string>{"a", "b", "d"}));
}

TEST(WithRanges, MovesAFillOfAnySizeIntoTheRange) {
  const auto job = RangedJob({"data.column=[{name=\"a\", range=\"private\", fill=1e30}]"});
  const auto found = WithRanges(job, RingMatrix::Zero(kGridCells, 1), 0).job;
  EXPECT_FALSE(data::FlawOf(found.data.columns[0]));
  EXPECT_THROW((void)RangedJob({"data.column=[{name=\"a\", range=\"private\", fill=\"much\"}]"}),
               ConfigError);
}

/// A number that no range holds, however narrow the range that noise has made, ends no run.
TEST(WithRanges, LeavesNoNumberThatCannotBeReadBeyondThem) {
  const auto job = RangedJob();
  const auto found = WithRanges(job, RingMatrix::Zero(CountedCells(job), 1), 0).job;
  const TemporaryFolder folder;
  const auto table =
      GridTable(folder, {{.a = 1e300, .b = -1e300, .d = 1e-300}, {.a = -1e300, .b = {}, .d = 0}});
  const auto standardised = Standardised(found, SumOfMoments(found, table, 0), 0);
  EXPECT_EQ(data::Load(standardised.data, table).x.rows(), 2);
}

TEST(RangesEvent, TakesItsShareOfEpsilonByItselfAndTheRestLess) {
  const auto job = RangedJob();
  const auto event = RangesEvent(job);
  EXPECT_EQ(event.coordinates, 3 * kGridCells);
  EXPECT_EQ(event.count, 1);
  const auto alone =
      dp::Epsilons({.job_hash = {}, .run_id = {}, .events = {event}}, 1e-5, dp::AccountantKind::kRdp);
  EXPECT_LE(alone.insider, 0.25 * 2);
  EXPECT_GT(alone.insider, 0.25 * 2 * 0.99);
  const auto settings = SettingsOf(job);
  const auto plan = ml::MakePlan(settings);
  ASSERT_EQ(plan.events.size(), 3U);
  EXPECT_EQ(std::get<dp::GaussianReleases>(plan.events[0]).coordinates, event.coordinates);
  EXPECT_EQ(std::get<dp::GaussianReleases>(plan.events[0]).sigma, event.sigma);
  EXPECT_EQ(std::get<dp::GaussianReleases>(plan.events[1]).coordinates, 1 + 2 + 3 * 3);
  EXPECT_LE(plan.epsilon_insider, 2);
  EXPECT_GT(plan.epsilon_insider, 2 * 0.99);
  auto without = settings;
  without.ranges.reset();
  EXPECT_GT(plan.sigma, ml::MakePlan(without).sigma);
  EXPECT_EQ(RangesEvent(RangedJob({"features={standardise=\"private\", range_sigma=3.0}"})).sigma, 3);
}

TEST(RangesEvent, IsRefusedForMoreColumnsThanCanBeCounted) {
  std::string columns;
  for (int k = 0; k < 3892; ++k) columns += fmt::format("{{name=\"c{}\", range=\"private\"}}, ", k);
  EXPECT_THAT([&] { (void)SettingsOf(RangedJob({fmt::format("data.column=[{}]", columns)})); },
              testing::ThrowsMessage<ConfigError>(
                  HasSubstr("found 3892 columns of range \"private\", expected 3891 at most")));
}

TEST(RangesAdvice, TellsOfCountsThatSeeLittleOfTheRecords) {
  const auto job = RangedJob();
  auto event = RangesEvent(job);
  event.sigma = 20;  // 5 √1.5 20 √3, 212 of 1,200
  EXPECT_TRUE(RangesAdvice(job, event).empty());
  event.sigma = 30;
  ASSERT_EQ(RangesAdvice(job, event).size(), 1U);
  EXPECT_THAT(RangesAdvice(job, event)[0],
              HasSubstr("see 319 records that lie close together, with the 1200"));
}

/// Three parties' records, one of which has none: the plain integers given the same noise, also where that
/// decides nearly all.
TEST(OpenRanges, IsThePlainResultGivenTheSameNoise) {
  const std::array tables{DrawGridRows(150, 5), DrawGridRows(0, 6), DrawGridRows(200, 7)};
  auto all = tables[0];
  all.insert(all.end(), tables[2].begin(), tables[2].end());
  int noise_decides = 0;
  for (const double sigma : {9.0, 40.0, 41.0, 42.0}) {
    const auto job =
        RangedJob({fmt::format("features={{standardise=\"private\", range_sigma={:.1f}}}", sigma)});
    const auto event = RangesEvent(job);
    const auto stream = [&](int party) {
      return RandomStream(FixedKey(static_cast<std::uint8_t>(static_cast<int>(sigma) + 50 * party)));
    };
    const auto found = RunParties(Seed{9}, [&](mpc::Context& party) {
      const auto own = CountsOf(job, tables.at(static_cast<std::size_t>(party.self())));
      std::string json;
      const auto measured = protocols::Measure(
          party, [&] { json = DpsgdJson(OpenRanges(party, job, event, own, stream(party.self())).job); });
      return std::pair{json, measured};
    });
    EXPECT_EQ(Figures({found[0].second, found[1].second, found[2].second}),
              Figures(Then(ml::NoisySumCost(event.coordinates, {0, 1, 2}),
                           protocols::RequireSameEverywhereCost())));
    const RingMatrix counts = CountsOf(job, all);
    RingMatrix noisy = counts;
    for (int party = 0; party < 3; ++party)
      noisy += ml::CountNoise(stream(party), sigma, kStatisticsNorm, event.coordinates).values();
    const auto plain = DpsgdJson(WithRanges(job, noisy, sigma).job);
    for (const auto& one : found) EXPECT_EQ(one.first, plain) << sigma;
    if (DpsgdJson(WithRanges(job, counts, sigma).job) != plain) ++noise_decides;
  }
  EXPECT_GE(noise_decides, 3);
}

TEST(OpenRanges, IsPlannedAtItsCost) {
  const auto settings = SettingsOf(RangedJob());
  auto without = settings;
  without.ranges.reset();
  const auto bytes = [](const ml::TrainingSettings& of) {
    return ml::PlannedRunCost(of, protocols::Form::kBulk, 1);
  };
  const auto more = bytes(settings);
  const auto less = bytes(without);
  const auto sum = Then(ml::NoisySumCost(3 * kGridCells, {0, 1, 2}), protocols::RequireSameEverywhereCost());
  EXPECT_EQ(more.rounds - less.rounds, sum.rounds());
  for (std::size_t party = 0; party < 3; ++party)
    EXPECT_EQ(more.bytes_sent.at(party) - less.bytes_sent.at(party), sum.bytes_sent().at(party));
}

TEST(AddRanges, SaysWhatWasFoundAndWhatIsAGuess) {
  const auto job = RangedJob();
  auto found = WithRanges(job, CountsOf(job, DrawGridRows(400, 1)), 0);
  found.unsure = {"d"};
  JobResult result;
  AddRanges(job, found, 2.5, result);
  const auto& ranges = result.summary.at("standardisation").at("ranges");
  EXPECT_EQ(ranges.at("sigma"), 2.5);
  ASSERT_EQ(ranges.at("columns").size(), 3U);
  EXPECT_EQ(ranges.at("columns")[1].at("name"), "b");
  EXPECT_EQ(ranges.at("columns")[1].at("low"), -64);
  EXPECT_EQ(ranges.at("columns")[1].at("above_noise"), true);
  EXPECT_EQ(ranges.at("columns")[2].at("above_noise"), false);
  const auto opened = OpenedRanges(job, found);
  ASSERT_EQ(opened.size(), 6U);
  EXPECT_EQ(opened[3].name, "standardise.b.high");
  EXPECT_EQ(opened[3].value, -16);
  ASSERT_EQ(result.lines.size(), 1U);
  EXPECT_EQ(result.lines[0], "no count of column \"d\" was clearly above its noise: its range is a guess");
  found.unsure = {"b", "d"};
  AddRanges(job, found, 2.5, result);
  EXPECT_EQ(result.lines.at(1),
            "no count of columns \"b\", \"d\" was clearly above its noise: their ranges are guesses");
}

/// By others' records a is from 1 to 8, b and d are around zero.
TEST(AddRangeLines, TellsTheOwnerOfItsNumbersBeyondThem) {
  const auto job = RangedJob();
  const std::vector<GridRow> others{{.a = 1.5, .b = 0.0, .d = 0}, {.a = 5, .b = 0.0, .d = 0}};
  const auto found = WithRanges(job, CountsOf(job, others), 0);
  std::vector<GridRow> rows(19, GridRow{.a = 1, .b = 0.0, .d = 3});
  rows.push_back({.a = 8, .b = {}, .d = 0});
  OwnerLines lines;
  AddRangeLines(job, found, CountsOf(job, rows), lines);
  ASSERT_EQ(lines.notes.size(), 1U);
  EXPECT_THAT(lines.notes[0],
              HasSubstr("1 of 20 numbers of column \"a\" lie beyond the range that was found, 1 to 8, or"));
  ASSERT_EQ(lines.warnings.size(), 1U);
  EXPECT_THAT(lines.warnings[0], HasSubstr("19 of 20 numbers of column \"d\" lie beyond the range"));
  EXPECT_THAT(lines.warnings[0], HasSubstr("would tell that there are such numbers here"));
  lines = {};
  AddRangeLines(job, found, CountsOf(job, {GridRow{.a = 0.99, .b = {}, .d = 0}}), lines);
  ASSERT_EQ(lines.warnings.size(), 1U);  // below the range, too
  EXPECT_THAT(lines.warnings[0], HasSubstr("1 of 1 numbers of column \"a\""));
}

}  // namespace
}  // namespace trefoil::jobs
