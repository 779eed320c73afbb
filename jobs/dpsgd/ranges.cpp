#include "jobs/dpsgd/ranges.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/error.h"
#include "data/dataset/load.h"
#include "dp/mechanisms/bernoulli.h"
#include "jobs/dpsgd/standardisation.h"
#include "jobs/records/record_fields.h"
#include "jobs/statistics/layout.h"
#include "ml/noise/noisy_sum.h"
#include "protocols/arithmetic/agreement.h"

namespace trefoil::jobs {
namespace {

using mpc::Index;

constexpr int kLeastExponent = -64;
constexpr int kScaleBits = 35;  // numbers are read as parts of 2^35, which data::Load takes up to 2^64
constexpr Index kAroundZero = kGridOctaves;
constexpr Index kMostColumns = 1'000'000 / kGridCells;

/// A cell takes part in a stretch by what its count has above this many deviations of its noise, which one of
/// noise alone has in 2.3 % of cases ...
constexpr double kFloor = 2;
/// ... and a stretch counts where that comes to so many in all: of pure noise one of all stretches of 257
/// cells does with a probability below 1 in 4,000.
constexpr double kClearly = 3;
/// Part of the records in counted stretches that may lie beyond either end.
constexpr double kBeyond = 0.01;
/// From this part of a party's own numbers on, those beyond a range are no note, but a warning.
constexpr double kManyBeyond = 0.1;
/// From this part of the declared records on, what a cell needs to be seen is a line of advice.
constexpr double kMuchOfRecords = 0.25;

/// The cell of a number in parts of 2^kScaleBits.
Index CellOf(float scaled) {
  int exponent = 0;  // the magnitude is at least 2^(exponent - 1) and below 2^exponent
  (void)std::frexp(scaled, &exponent);
  const Index octave = exponent - 1 + kScaleBits - kLeastExponent;
  if (scaled == 0 || octave < 0) return kAroundZero;
  const Index place = std::min(octave, kGridOctaves - 1);
  return scaled > 0 ? kAroundZero + 1 + place : kAroundZero - 1 - place;
}

/// The records as they are read for counting alone: what is missing has a number of its own.
data::DataSpec CountedSpec(const DpsgdSettings& job) {
  auto spec = job.data;
  for (auto& column : spec.columns) {
    data::Column one;
    one.name = column.name;
    one.kind = data::ColumnKind::kIgnore;
    if (column.private_range) {
      one.kind = data::ColumnKind::kNumber;
      one.missing = column.missing;
      one.missing_indicator = true;
      one.high = std::ldexp(1.0, kLeastExponent + static_cast<int>(kGridOctaves));
      one.low = -*one.high;
      one.scale = std::ldexp(1.0, kScaleBits);
    }
    column = std::move(one);
  }
  spec.features = data::CountFeatures(spec);
  return spec;
}

Index CountedColumns(const DpsgdSettings& job) {
  return std::count_if(job.data.columns.begin(), job.data.columns.end(),
                       [](const data::Column& column) { return column.private_range; });
}

/// Of the noise of all three parties on a count, in records.
double NoiseOnCount(Index columns, double sigma) {
  return dp::kAllOverTwo * sigma * static_cast<double>(kStatisticsNorm) /
         static_cast<double>(UnitOfCount(columns));
}

/// Cells in a row.
struct Stretch {
  Index first = 0;
  Index last = 0;
  double excess = 0;  ///< what its counts have above the floor, in all
};

/// Of all stretches from `first` to `last` the one with the largest excess, the first of equal ones; where no
/// count is above the floor, one without excess.
Stretch LargestOf(std::span<const double> counts, Index first, Index last, double floor) {
  Stretch largest{.first = first, .last = first};
  double excess = 0;
  Index begin = first;
  for (Index cell = first; cell <= last; ++cell) {
    if (excess <= 0) {
      excess = 0;
      begin = cell;
    }
    excess += counts[static_cast<std::size_t>(cell)] - floor;
    if (excess > largest.excess) largest = {.first = begin, .last = cell, .excess = excess};
  }
  return largest;
}

/// The cells of the largest stretch, and of those beside it, ever further away, that are clear, in order.
std::vector<Index> HeldCells(std::span<const double> counts, const Stretch& largest, double noise) {
  std::vector<Index> held;
  const auto hold = [&](const Stretch& stretch) {
    for (Index cell = stretch.first; cell <= stretch.last; ++cell) held.push_back(cell);
  };
  const auto clear = [&](const Stretch& stretch) {
    return stretch.excess > 0 && stretch.excess >= kClearly * noise;
  };
  hold(largest);
  for (Index behind = largest.last + 1; behind < kGridCells;) {
    const auto next = LargestOf(counts, behind, kGridCells - 1, kFloor * noise);
    if (!clear(next)) break;
    hold(next);
    behind = next.last + 1;
  }
  for (Index before = largest.first - 1; before >= 0;) {
    const auto next = LargestOf(counts, 0, before, kFloor * noise);
    if (!clear(next)) break;
    hold(next);
    before = next.first - 1;
  }
  std::sort(held.begin(), held.end());
  return held;
}

}  // namespace

double GridBorder(Index border) {
  Require(border >= 0 && border <= kGridCells, "GridBorder: a border of the grid");
  if (border <= kAroundZero) return -std::ldexp(1.0, kLeastExponent + static_cast<int>(kAroundZero - border));
  return std::ldexp(1.0, kLeastExponent + static_cast<int>(border - kAroundZero - 1));
}

GridRange RangeOf(std::span<const double> counts, double noise) {
  Require(std::ssize(counts) == kGridCells, "RangeOf: a count for every cell");
  auto largest = LargestOf(counts, 0, kGridCells - 1, kFloor * noise);
  if (largest.excess <= 0) largest = {.first = kAroundZero, .last = kAroundZero};
  const auto held = HeldCells(counts, largest, noise);
  const auto count = [&](auto cell) { return counts[static_cast<std::size_t>(*cell)]; };
  double all = 0;
  for (auto cell = held.begin(); cell != held.end(); ++cell) all += count(cell);
  auto first = held.begin();
  auto last = std::prev(held.end());
  for (double beyond = count(first); first != last && beyond <= kBeyond * all; beyond += count(first))
    ++first;
  for (double beyond = count(last); first != last && beyond <= kBeyond * all; beyond += count(last)) --last;
  GridRange range{.low = GridBorder(*first),
                  .high = GridBorder(*last + 1),
                  .above_noise = largest.excess > 0 && largest.excess >= kClearly * noise};
  // Of a column with other values, too, zero is where those around it end.
  if (*first == kAroundZero && *last > kAroundZero) range.low = 0;
  if (*last == kAroundZero && *first < kAroundZero) range.high = 0;
  return range;
}

Index CountedCells(const DpsgdSettings& job) { return kGridCells * CountedColumns(job); }

dp::GaussianReleases RangesEvent(const DpsgdSettings& job) {
  const auto columns = CountedColumns(job);
  if (columns > kMostColumns)
    throw ConfigError(fmt::format("data.column: found {} columns of range \"private\", expected {} at most",
                                  columns, kMostColumns));
  const auto& standardise = job.features.standardise;
  auto event = SumEvent(job, CountedCells(job), standardise.range_sigma, standardise.range_share);
  event.of = dp::ReleasedFor::kRanges;
  return event;
}

std::uint64_t UnitOfCount(Index columns) {
  Require(columns > 0 && columns <= kMostColumns, "UnitOfCount: columns to be counted");
  const auto count = static_cast<std::uint64_t>(columns);
  const auto of_norm = static_cast<dp::Uint128>(kStatisticsNorm) * kStatisticsNorm;
  const auto fits = [&](std::uint64_t unit) {
    return static_cast<dp::Uint128>(unit) * unit * count <= of_norm;
  };
  auto unit = static_cast<std::uint64_t>(static_cast<double>(kStatisticsNorm) /
                                         std::sqrt(static_cast<double>(columns)));
  while (!fits(unit)) --unit;
  while (fits(unit + 1)) ++unit;
  return unit;
}

mpc::RingMatrix CountCells(const DpsgdSettings& job, const data::DataFiles& files, int party) {
  mpc::RingMatrix counts = mpc::RingMatrix::Zero(CountedCells(job), 1);
  if (counts.size() == 0) return counts;
  const auto spec = CountedSpec(job);
  const auto table =
      data::Load(spec, files, job.data.rows.at(static_cast<std::size_t>(party)), data::LabelUse::kIgnored);
  const auto unit = UnitOfCount(CountedColumns(job));
  // Of each column there is its number, and whether it is missing.
  for (Index row = 0; row < table.x.rows(); ++row) {
    for (Index column = 0; column < table.x.cols() / 2; ++column) {
      const bool missing = table.x(row, 2 * column + 1) != 0;
      if (!missing) counts(kGridCells * column + CellOf(table.x(row, 2 * column)), 0) += unit;
    }
  }
  return counts;
}

FoundRanges WithRanges(const DpsgdSettings& job, const mpc::RingMatrix& counts, double sigma) {
  FoundRanges found{.job = job};
  const auto columns = CountedColumns(job);
  Require(counts.size() == kGridCells * columns, "WithRanges: a count for every cell");
  if (columns == 0) return found;
  const auto unit = static_cast<double>(UnitOfCount(columns));
  auto& standardise = found.job.features.standardise;
  standardise.range_sigma.reset();
  standardise.range_share = StandardiseSpec().range_share;
  Index first = 0;
  for (auto& column : found.job.data.columns) {
    if (!column.private_range) continue;
    std::vector<double> of_column;
    for (Index cell = first; cell < first + kGridCells; ++cell)
      of_column.push_back(static_cast<double>(mpc::Signed(counts(cell, 0))) / unit);
    const auto range = RangeOf(of_column, NoiseOnCount(columns, sigma));
    if (!range.above_noise) found.unsure.push_back(column.name);
    column.private_range = false;
    column.low = range.low;
    column.high = range.high;
    first += kGridCells;
  }
  return found;
}

FoundRanges OpenRanges(mpc::Context& party, const DpsgdSettings& job, const dp::GaussianReleases& event,
                       const mpc::RingMatrix& own, RandomStream stream) {
  ml::NoisySums sums({.coordinates = event.coordinates, .sigma = event.sigma, .sensitivity = kStatisticsNorm},
                     std::move(stream));
  const auto opened = sums.Next(party, own);
  auto found = WithRanges(job, opened.value(), event.sigma);
  protocols::RequireSameEverywhere(party, DpsgdJson(found.job), "ranges of columns");
  return found;
}

std::vector<std::string> RangesAdvice(const DpsgdSettings& job, const dp::GaussianReleases& event) {
  const auto columns = CountedColumns(job);
  const auto rows = TotalRows(job.data);
  const double seen = (kFloor + kClearly) * NoiseOnCount(columns, event.sigma);
  if (seen < kMuchOfRecords * static_cast<double>(rows)) return {};
  return {
      fmt::format("the counts by which the ranges of {} columns are found see {:.0f} records that lie close "
                  "together, with the {} rows that the job declares: fewer lie beyond a range unseen; more "
                  "rows, a larger features.range_share, or low and high in place of range = \"private\" is "
                  "what helps",
                  columns, std::ceil(seen), rows)};
}

std::vector<ReleasedValue> OpenedRanges(const DpsgdSettings& job, const FoundRanges& found) {
  std::vector<ReleasedValue> values;
  for (std::size_t k = 0; k < job.data.columns.size(); ++k) {
    if (!job.data.columns[k].private_range) continue;
    const auto& column = found.job.data.columns[k];
    values.push_back({.name = fmt::format("standardise.{}.low", column.name), .value = *column.low});
    values.push_back({.name = fmt::format("standardise.{}.high", column.name), .value = *column.high});
  }
  return values;
}

void AddRanges(const DpsgdSettings& job, const FoundRanges& found, double sigma, JobResult& result) {
  auto columns = nlohmann::ordered_json::array();
  for (std::size_t k = 0; k < job.data.columns.size(); ++k) {
    if (!job.data.columns[k].private_range) continue;
    const auto& column = found.job.data.columns[k];
    const bool unsure =
        std::find(found.unsure.begin(), found.unsure.end(), column.name) != found.unsure.end();
    columns.push_back(
        {{"name", column.name}, {"low", *column.low}, {"high", *column.high}, {"above_noise", !unsure}});
  }
  result.summary["standardisation"]["ranges"] = {{"sigma", sigma}, {"columns", std::move(columns)}};
  if (found.unsure.empty()) return;
  const bool one = found.unsure.size() == 1;
  result.lines.push_back(fmt::format("no count of column{} \"{}\" was clearly above its noise: {}",
                                     one ? "" : "s", fmt::join(found.unsure, "\", \""),
                                     one ? "its range is a guess" : "their ranges are guesses"));
}

void AddRangeLines(const DpsgdSettings& job, const FoundRanges& found, const mpc::RingMatrix& own,
                   OwnerLines& lines) {
  const auto unit = UnitOfCount(CountedColumns(job));
  Index first = 0;
  for (std::size_t k = 0; k < job.data.columns.size(); ++k) {
    if (!job.data.columns[k].private_range) continue;
    const auto& column = found.job.data.columns[k];
    std::uint64_t all = 0;
    std::uint64_t beyond = 0;
    for (Index cell = 0; cell < kGridCells; ++cell) {
      const std::uint64_t count = own(first + cell, 0) / unit;
      all += count;
      if (GridBorder(cell + 1) <= *column.low || GridBorder(cell) >= *column.high) beyond += count;
    }
    first += kGridCells;
    if (beyond == 0) continue;
    const bool many = static_cast<double>(beyond) >= kManyBeyond * static_cast<double>(all);
    (many ? lines.warnings : lines.notes)
        .push_back(fmt::format(
            "{} of {} numbers of column \"{}\" lie beyond the range that was found, {} to {}, or just at its "
            "end, and count as that; a job that declares a wider one would tell that there are such numbers "
            "here",
            beyond, all, column.name, *column.low, *column.high));
  }
}

}  // namespace trefoil::jobs
