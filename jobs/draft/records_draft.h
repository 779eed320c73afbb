#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "data/columns/target.h"
#include "jobs/draft/interview.h"

namespace trefoil::jobs {

/// What a draft says of the records of a job.
struct RecordsDraft {
  std::string name;
  std::array<std::int64_t, 3> rows{};
  double row_norm = 1;
  std::optional<data::TargetRange> target{};  ///< of the number that is predicted, in place of a class
  std::string toml;                           ///< [data], its tables and [features]
};

/// Asks for the name, the label and its classes, the columns, the marks of missing values and the capacities.
/// Nothing of the file but the names and number of its columns and how it is written gets into the draft by a
/// proposal that no yes was said to. Throws ConfigError as Interview and AskPrediction.
[[nodiscard]] RecordsDraft DraftRecords(const DraftSource& source, Interview& interview);

}  // namespace trefoil::jobs
