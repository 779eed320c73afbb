#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "data/dataset/spec.h"

namespace trefoil::jobs {

/// What a job of type "statistics" releases, each with a weight of its own.
enum class Statistic { kCount, kMoments, kQuantiles, kCorrelations, kTables };
inline constexpr std::array kStatistics{Statistic::kCount, Statistic::kMoments, Statistic::kQuantiles,
                                        Statistic::kCorrelations, Statistic::kTables};
/// As the job's keys name it.
[[nodiscard]] const char* NameOf(Statistic statistic);
template <typename T>
using OfEachStatistic = std::array<T, kStatistics.size()>;

/// A column of the owners' tables.
struct StatisticsColumn {
  data::Column column;  ///< a number, whose edges are where tables cut it, a category, or ignored
  double low = 0;       ///< of a number: public; what is beyond is moved to the end
  double high = 0;
};

/// Counts of the values of one column, or of the pairs of values of two.
struct CountedTable {
  std::string rows;
  std::optional<std::string> columns{};  ///< empty: of one
};

/// Of what records statistics are, and which: what decides the vector that a record adds.
struct StatisticsSpec {
  data::DataSpec data;  ///< without columns
  std::vector<StatisticsColumn> columns;
  std::vector<std::string> moments;       ///< columns of numbers
  std::vector<std::string> quantiles;     ///< likewise
  std::int64_t bins = 0;                  ///< of each column that has quantiles
  std::vector<std::string> correlations;  ///< as moments, each of which has moments too
  std::vector<CountedTable> tables;
  OfEachStatistic<double> weights{};
};

/// The number of the column of this name. Pre: there is one.
[[nodiscard]] std::size_t ColumnOf(const StatisticsSpec& spec, const std::string& name);

/// Whether a value of the column may be missing: it has a mark.
[[nodiscard]] bool MayMiss(const StatisticsSpec& spec, const data::Column& column);

}  // namespace trefoil::jobs
