#pragma once
#include <cstdint>
#include <optional>

#include "data/dataset/data_files.h"
#include "data/dataset/spec.h"
#include "data/dataset/stored_rows.h"
#include "data/dataset/table.h"

namespace trefoil::data {

/// Reads a data set and checks every value against the spec: number of features, as many labels as rows,
/// labels in 0..classes-1 or targets in their range, values finite and of magnitude at most kLargestValue,
/// at most `capacity` rows where one is given. Values of other formats than CSV are divided by spec.scale;
/// arrays of more than two dimensions are flattened row by row, and CIFAR's planes are interleaved:
/// channels come last. Images of a folder are in the order of ListImages(), labelled by their sub-folders;
/// a build that decodes none throws ConfigError. With labels ignored, all that concerns them is left out.
/// Throws ConfigError as ValidateSpec or for files of another format; DataError naming file, row, column
/// (from 1).
[[nodiscard]] Table Load(const DataSpec& spec, const DataFiles& files,
                         std::optional<std::int64_t> capacity = std::nullopt,
                         LabelUse labels = LabelUse::kRead);

/// A data set whose rows stay in their file.
struct StoredTable {
  StoredRows x;
  std::vector<int> y;
};

/// As Load(), with its checks, but the rows are read when they are asked for. Nothing where they would take
/// no more than `max_bytes` in memory, or cannot be read one by one (StoredRows::Open).
[[nodiscard]] std::optional<StoredTable> LoadStored(const DataSpec& spec, const DataFiles& files,
                                                    std::uintmax_t max_bytes,
                                                    std::optional<std::int64_t> capacity = std::nullopt);

}  // namespace trefoil::data
