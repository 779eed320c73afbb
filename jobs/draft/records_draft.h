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

/// Asks for the label, whose rows the file has, and by one list whether all that the draft takes from the
/// file may become public: how it is written, classes, columns, marks of missing values, capacities, name.
/// After a no each of these is a question, of columns first whether all may become public. But for the names
/// and number of its columns, and which is the label, nothing of the file gets into the draft without a yes.
/// Throws ConfigError as Interview and PredictionQuestion, and for a known answer to one of these lists, to
/// whose rows they are, or to the label as a column.
[[nodiscard]] RecordsDraft DraftRecords(const DraftSource& source, Interview& interview);

}  // namespace trefoil::jobs
