#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "data/dataset/data_files.h"
#include "jobs/statistics/layout.h"
#include "mpc/ring.h"

namespace trefoil::jobs {

/// The columns as files of records are read: what is missing has a number of its own.
[[nodiscard]] data::DataSpec RecordsOf(const StatisticsSettings& job);

/// What a party adds, and what its owner alone may know of that.
struct OwnStatistics {
  mpc::RingMatrix sum;                  ///< layout.size x 1
  std::int64_t rows = 0;                ///< records
  std::int64_t beyond = 0;              ///< numbers that were moved to an end of their range
  std::vector<std::string> warnings{};  ///< of values that no row has
};

/// Reads a table of records, `capacity` at most where one is given, and adds up their vectors in integers, each shortened
/// to kStatisticsNorm whatever it is. Throws DataError as data::Load.
[[nodiscard]] OwnStatistics SumStatistics(const StatisticsSettings& job, const StatisticsLayout& layout,
                                          const data::DataFiles& files,
                                          std::optional<std::int64_t> capacity = {});

}  // namespace trefoil::jobs
