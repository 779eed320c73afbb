#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "data/dataset/data_files.h"
#include "data/dataset/table.h"
#include "jobs/statistics/layout.h"
#include "mpc/ring.h"

namespace trefoil::jobs {

/// The columns as files of records are read: what is missing has a number of its own.
[[nodiscard]] data::DataSpec RecordsOf(const StatisticsSpec& job);

/// What a party adds, and what its owner alone may know of that.
struct OwnStatistics {
  mpc::RingMatrix sum;                  ///< layout.size x 1
  std::int64_t rows = 0;                ///< records
  std::int64_t beyond = 0;              ///< numbers that were moved to an end of their range
  std::vector<std::string> warnings{};  ///< of values that no row has, and of those
};

/// What an owner deposits, and what it alone may know of that.
struct StatisticsRows {
  data::Matrix rows;  ///< records x layout.size, multiples of the unit of the layout's lattice
  std::vector<std::string> warnings{};  ///< as above
};

/// Reads a table of records, `capacity` at most where one is given, and adds up their vectors in integers,
/// each shortened to kStatisticsNorm whatever it is. Throws DataError as data::Load.
[[nodiscard]] OwnStatistics SumStatistics(const StatisticsSpec& job, const StatisticsLayout& layout,
                                          const data::DataFiles& files,
                                          std::optional<std::int64_t> capacity = {});

/// Reads such a table and makes a row of each record's vector, every number to the nearest. Pre:
/// DepositedLayoutOf(spec). Throws DataError as data::Load.
[[nodiscard]] StatisticsRows RowsOfStatistics(const StatisticsSpec& spec, const StatisticsLayout& layout,
                                              const data::DataFiles& files);

}  // namespace trefoil::jobs
