#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "data/dataset/data_files.h"

namespace trefoil::data {

/// One column of a table whose values are public: what a histogram counts.
struct CategoryColumn {
  bool header = true;
  std::vector<std::string> columns;  ///< without a header: the names of the file's columns in order
  std::string column;                ///< the name of the one that is counted
  std::vector<std::string> values;   ///< the values that are counted, in this order
};

/// What one column of a table holds.
struct Categories {
  std::vector<std::string> columns;  ///< the names of all columns, in order
  /// For each record, in order: the place of its value in `values`, or nothing where it is none of them.
  std::vector<std::optional<std::size_t>> of_records;
};

/// Throws DataError naming row and column, what was found and expected, for a missing or repeated column, a
/// record with another number of fields than the first, and more records than `capacity`, where one is given.
/// No value of a record is ever in a text.
[[nodiscard]] Categories ReadCategories(const DataFiles& files, const CategoryColumn& column,
                                        std::optional<std::int64_t> capacity = {});

/// Throws DataError naming `files` for more records than `capacity`.
void RequireCapacity(const DataFiles& files, std::int64_t records, std::int64_t capacity);

}  // namespace trefoil::data
