#include "jobs/statistics/layout.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "jobs/records/vector_bits.h"

namespace trefoil::jobs {
namespace {

using data::ColumnKind;
using mpc::Index;

constexpr Index kMaxNumbers = 1'000'000;
// Bits that a number may be larger than its range, beside the 10^9 that data::Load allows.
constexpr int kRoom = 90;

/// The columns that have moments: those that are asked for, and those of correlations.
std::vector<std::string> WithMoments(const StatisticsSpec& job) {
  auto names = job.moments;
  for (const auto& name : job.correlations) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

/// What a table calls the values of a column.
std::vector<std::string> ValuesOf(const StatisticsSpec& job, const StatisticsColumn& one) {
  auto values = one.column.values;
  const auto& edges = one.column.edges;
  if (one.column.kind == ColumnKind::kNumber) {
    values = {fmt::format("below {}", edges.front())};
    for (std::size_t k = 0; k + 1 < edges.size(); ++k)
      values.push_back(fmt::format("{} to below {}", edges[k], edges[k + 1]));
    values.push_back(fmt::format("{} and above", edges.back()));
  }
  if (MayMiss(job, one.column)) values.emplace_back("(missing)");
  return values;
}

/// Puts one thing after the other.
class Places {
 public:
  Index Take(std::size_t count) {
    const Index first = next_;
    next_ += static_cast<Index>(count);
    if (next_ > kMaxNumbers)
      throw ConfigError(fmt::format(
          "statistics: found more than {} numbers to release, expected fewer bins, tables or columns",
          kMaxNumbers));
    return first;
  }
  [[nodiscard]] Index next() const { return next_; }

 private:
  Index next_ = 0;
};

void LayPairs(const StatisticsSpec& job, StatisticsLayout& layout, Places& places) {
  std::vector<std::size_t> members;
  for (const auto& name : job.correlations) {
    const auto found = std::find_if(layout.moments.begin(), layout.moments.end(), [&](const auto& one) {
      return job.columns[one.column].column.name == name;
    });
    members.push_back(static_cast<std::size_t>(found - layout.moments.begin()));
  }
  for (std::size_t j = 0; j < members.size(); ++j) {
    for (std::size_t k = j + 1; k < members.size(); ++k) {
      const bool may_miss = layout.moments[members[j]].may_miss || layout.moments[members[k]].may_miss;
      layout.correlations.push_back({.one = members[j],
                                     .other = members[k],
                                     .first = places.Take(may_miss ? 2 : 1),
                                     .may_miss = may_miss});
    }
  }
}

LaidTable LayTable(const StatisticsSpec& job, const CountedTable& table, Places& places) {
  LaidTable laid{.rows = ColumnOf(job, table.rows),
                 .columns = {},
                 .first = 0,
                 .row_values = ValuesOf(job, job.columns[ColumnOf(job, table.rows)]),
                 .column_values = {""}};
  if (table.columns) {
    laid.columns = ColumnOf(job, *table.columns);
    laid.column_values = ValuesOf(job, job.columns[*laid.columns]);
  }
  laid.first = places.Take(laid.row_values.size() * laid.column_values.size());
  return laid;
}

/// A record has a number of magnitude 1 at most, or several of that norm together, for each item.
OfEachStatistic<double> ItemsOf(const StatisticsLayout& layout) {
  return {layout.moments.empty() ? 0.0 : 1.0, static_cast<double>(layout.moments.size()),
          static_cast<double>(layout.quantiles.size()), static_cast<double>(layout.correlations.size()),
          static_cast<double>(layout.tables.size())};
}

std::size_t ValueOf(const StatisticsLayout& layout, std::size_t column, std::size_t values,
                    const StatisticsCell& cell) {
  if (cell.missing) return values - 1;
  const auto& edges = layout.numbers[column].edges;
  if (edges.empty()) return cell.value;
  return static_cast<std::size_t>(std::upper_bound(edges.begin(), edges.end(), cell.scaled) - edges.begin());
}

Index BinOf(const ScaledNumbers& numbers, const StatisticsCell& cell) {
  const auto& borders = numbers.borders;
  return std::upper_bound(borders.begin(), borders.end(), cell.scaled) - borders.begin();
}

/// As ColumnEncoder makes it of the column's numbers, so that what is equal stays equal.
float Scaled(double value, const StatisticsColumn& column, double scale) {
  return static_cast<float>((value - column.low) / scale);
}

}  // namespace

ScaledNumbers ScaleOf(const StatisticsColumn& column) {
  ScaledNumbers numbers;
  int exponent = 0;
  const double range = std::frexp(column.high - column.low, &exponent);
  numbers.range = static_cast<float>(std::ldexp(range, -kRoom));
  numbers.scale = std::ldexp(1.0, exponent + kRoom);
  for (const double edge : column.column.edges) numbers.edges.push_back(Scaled(edge, column, numbers.scale));
  return numbers;
}

double BorderOf(const StatisticsColumn& column, std::int64_t bin, std::int64_t bins) {
  return column.low + (column.high - column.low) * (static_cast<double>(bin) / static_cast<double>(bins));
}

StatisticsLayout LayoutOf(const StatisticsSpec& job) {
  StatisticsLayout layout;
  layout.bins = job.bins;
  for (const auto& column : job.columns)
    layout.numbers.push_back(column.column.kind == ColumnKind::kNumber ? ScaleOf(column) : ScaledNumbers{});
  Places places;
  const auto moments = WithMoments(job);
  if (!moments.empty()) (void)places.Take(1);
  for (const auto& name : moments) {
    const auto column = ColumnOf(job, name);
    const bool may_miss = MayMiss(job, job.columns[column].column);
    layout.moments.push_back(
        {.column = column, .first = places.Take(may_miss ? 3 : 2), .may_miss = may_miss});
  }
  for (const auto& name : job.quantiles) {
    const auto column = ColumnOf(job, name);
    layout.quantiles.push_back({.column = column, .first = places.Take(static_cast<std::size_t>(job.bins))});
    auto& numbers = layout.numbers[column];
    for (std::int64_t bin = 1; bin < job.bins; ++bin)
      numbers.borders.push_back(
          Scaled(BorderOf(job.columns[column], bin, job.bins), job.columns[column], numbers.scale));
  }
  LayPairs(job, layout, places);
  for (const auto& table : job.tables) layout.tables.push_back(LayTable(job, table, places));
  layout.size = places.next();
  const auto items = ItemsOf(layout);
  double all = 0;
  for (std::size_t k = 0; k < items.size(); ++k) all += job.weights.at(k) * items.at(k);
  for (std::size_t k = 0; k < items.size(); ++k) layout.factor.at(k) = std::sqrt(job.weights.at(k) / all);
  return layout;
}

StatisticsLayout DepositedLayoutOf(const StatisticsSpec& spec) {
  constexpr double kFewestUnits = 1000;
  auto layout = LayoutOf(spec);
  const auto bits = VectorBits(layout.size, 1);
  Require(bits.has_value(), "DepositedLayoutOf: rows of kMaxNumbers numbers have room for 17 bits");
  layout.bits = *bits;
  for (const auto statistic : kStatistics) {
    double& factor = layout.factor.at(static_cast<std::size_t>(statistic));
    // Less one, so that rounding the other numbers to the nearest makes no row too long.
    const double units = std::floor(std::ldexp(factor, layout.bits)) - 1;
    if (units < kFewestUnits && ItemsOf(layout).at(static_cast<std::size_t>(statistic)) > 0)
      throw ConfigError(
          fmt::format("statistics.weights: {} have {} units of the lattice of a deposit's row of {} numbers, "
                      "expected {} at least: a larger weight, or less to release",
                      NameOf(statistic), units, layout.size, kFewestUnits));
    factor = std::ldexp(units, -layout.bits);
  }
  return layout;
}

double LargestWeightOf(const StatisticsLayout& layout) {
  const auto items = ItemsOf(layout);
  double largest = 0;
  for (std::size_t k = 0; k < items.size(); ++k)
    if (items.at(k) > 0) largest = std::max(largest, 1 / layout.factor.at(k));
  return largest;
}

double CentredOf(const ScaledNumbers& numbers, const StatisticsCell& cell) {
  return 2 * static_cast<double>(cell.scaled) / numbers.range - 1;
}

void VectorOf(const StatisticsLayout& layout, const std::vector<StatisticsCell>& cells,
              std::vector<StatisticsEntry>& entries) {
  const auto centred = [&](std::size_t column) { return CentredOf(layout.numbers[column], cells[column]); };
  entries.clear();
  if (!layout.moments.empty()) entries.push_back({0, layout.FactorOf(Statistic::kCount)});
  double factor = layout.FactorOf(Statistic::kMoments);
  for (const auto& [column, first, may_miss] : layout.moments) {
    if (cells[column].missing) {
      entries.push_back({first + 2, factor});
      continue;
    }
    const double z = centred(column);
    entries.push_back({first, factor * z});
    entries.push_back({first + 1, factor * (1 - z * z)});
  }
  factor = layout.FactorOf(Statistic::kQuantiles);
  for (const auto& [column, first] : layout.quantiles) {
    if (!cells[column].missing)
      entries.push_back({first + BinOf(layout.numbers[column], cells[column]), factor});
  }
  factor = layout.FactorOf(Statistic::kCorrelations);
  for (const auto& [one, other, first, may_miss] : layout.correlations) {
    const auto j = layout.moments[one].column;
    const auto k = layout.moments[other].column;
    if (cells[j].missing || cells[k].missing) {
      entries.push_back({first + 1, factor});
    } else {
      entries.push_back({first, factor * centred(j) * centred(k)});
    }
  }
  factor = layout.FactorOf(Statistic::kTables);
  for (const auto& table : layout.tables) {
    const auto value = [&](std::size_t column, const std::vector<std::string>& values) {
      return ValueOf(layout, column, values.size(), cells[column]);
    };
    auto place = value(table.rows, table.row_values) * table.column_values.size();
    if (table.columns) place += value(*table.columns, table.column_values);
    entries.push_back({table.first + static_cast<Index>(place), factor});
  }
}

}  // namespace trefoil::jobs
