#pragma once
#include <string>
#include <vector>

#include "data/dataset/data_files.h"
#include "data/dataset/spec.h"
#include "data/dataset/table.h"
#include "jobs/records/load_records.h"
#include "jobs/records/schema.h"

/// What an owner who runs no party deposits, by what a study says of it.
namespace trefoil::jobs {

/// What its files have: the study's records, or those that vectors are made of.
[[nodiscard]] data::DataSpec OwnersFiles(const RecordSchema& records);

/// Rows to deposit, and what their owner alone should know of them, a line each.
struct OwnersRows {
  data::Table table{};
  std::vector<std::string> warnings{};
};

/// The rows of such files: features, as a party's own records have them, or vectors. Where labels are
/// ignored, as they are for rows that are added up, all are of class 0, or target 0. Throws DataError as
/// data::Load and LoadRecords, ConfigError as LoadRecords.
[[nodiscard]] OwnersRows LoadOwnersRows(RecordSchema records, const data::DataFiles& files,
                                        const LoadOptions& options);

}  // namespace trefoil::jobs
