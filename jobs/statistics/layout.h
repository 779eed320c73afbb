#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "jobs/statistics/spec.h"
#include "mpc/ring.h"

/// What a record adds to the one sum from which all statistics are computed, and where it stands there. The
/// proof of what that sum tells is in docs/explanation/privacy.md, "Statistics".
namespace trefoil::jobs {

/// Of the lattice of a record's vector, which is no longer than 1, where parties bring the records.
inline constexpr int kStatisticsBits = 30;
inline constexpr std::uint64_t kStatisticsNorm = std::uint64_t{1} << kStatisticsBits;

/// What a record has in a column.
struct StatisticsCell {
  bool missing = false;
  float scaled = 0;       ///< a number: from 0 to ScaledNumbers::range
  std::size_t value = 0;  ///< a category: its number
};

/// How a column's numbers are read: (number - low) / scale, scale being a power of two, so that nothing is
/// lost of numbers of 24 bits; so large a one that numbers 10^36 ranges away from it are read, and then moved
/// to its end.
struct ScaledNumbers {
  double scale = 1;
  float range = 1;  ///< of `high`: from 2^-91 to 2^-90
  std::vector<float> edges{};
  std::vector<float> borders{};  ///< between two bins each, where the column has quantiles
};
/// Without borders.
[[nodiscard]] ScaledNumbers ScaleOf(const StatisticsColumn& column);

/// Where a bin begins, and the one before it ends.
[[nodiscard]] double BorderOf(const StatisticsColumn& column, std::int64_t bin, std::int64_t bins);

/// z = -1 at low, 1 at high. Adds z, 1 - z^2, and where a value may be missing a third number, which is 1 in
/// place of both where it is.
struct LaidMoments {
  std::size_t column;
  mpc::Index first;
  bool may_miss;
};

/// Adds 1 to the bin of the number, on a border to the upper one; nothing where it is missing.
struct LaidBins {
  std::size_t column;
  mpc::Index first;
};

/// Adds z z' of two columns, given by their place among the moments; where one of them may be missing, a
/// second number, which is 1 in place of the product where one is.
struct LaidPair {
  std::size_t one;
  std::size_t other;
  mpc::Index first;
  bool may_miss;
};

/// Adds 1 to the count of the record's values, in the order of rows; a value that may be missing has a last
/// count more.
struct LaidTable {
  std::size_t rows;
  std::optional<std::size_t> columns;
  mpc::Index first;
  std::vector<std::string> row_values;
  std::vector<std::string> column_values;  ///< one, without a name, of a table of one column
};

/// Where everything stands in the sum.
struct StatisticsLayout {
  std::vector<ScaledNumbers> numbers;  ///< by columns; of others than numbers of no meaning
  std::vector<LaidMoments> moments;    ///< whose sums need place 0, how many records there are
  std::vector<LaidBins> quantiles;
  std::vector<LaidPair> correlations;
  std::vector<LaidTable> tables;
  std::int64_t bins = 0;
  mpc::Index size = 0;               ///< numbers of the sum
  int bits = kStatisticsBits;        ///< of the lattice
  OfEachStatistic<double> factor{};  ///< by which a statistic's numbers are multiplied in the vector

  [[nodiscard]] double FactorOf(Statistic statistic) const {
    return factor.at(static_cast<std::size_t>(statistic));
  }
};

/// Throws ConfigError for more than a million numbers.
[[nodiscard]] StatisticsLayout LayoutOf(const StatisticsSpec& job);

/// The same for vectors that owners deposit: on the lattice that such rows have room for, with factors that
/// are multiples of its unit, the largest but one, so that what counts records is exact, and no vector too
/// long when its numbers are rounded to the nearest (privacy.md, "Statistics"). Throws ConfigError as
/// LayoutOf, and where a factor has fewer than 1,000 units.
[[nodiscard]] StatisticsLayout DepositedLayoutOf(const StatisticsSpec& spec);

/// How many records' worth a vector of norm 1, which an owner may deposit whatever its records are, moves one
/// number of the statistic with the smallest factor.
[[nodiscard]] double LargestWeightOf(const StatisticsLayout& layout);

/// From -1 to 1. Pre: not missing.
[[nodiscard]] double CentredOf(const ScaledNumbers& numbers, const StatisticsCell& cell);

/// One number of a record's vector; all others are zeros.
struct StatisticsEntry {
  mpc::Index place;
  double value;
};

/// The vector of a record, given by a cell for each column, in place of what `entries` holds: of norm 1 at
/// most, but for rounding. No place occurs twice.
void VectorOf(const StatisticsLayout& layout, const std::vector<StatisticsCell>& cells,
              std::vector<StatisticsEntry>& entries);

}  // namespace trefoil::jobs
