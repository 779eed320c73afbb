#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/secrets/sha256.h"
#include "data/dataset/data_files.h"

namespace trefoil::data {

/// One column of a table whose values are public: what a histogram counts.
struct CategoryColumn {
  bool header = true;
  std::vector<std::string> columns;  ///< without a header: the names of the file's columns in order
  std::string column;                ///< the name of the one that is counted
  std::vector<std::string> values;   ///< the values that are counted, in this order
};

/// What a record has: the place of its value in `values`, or nothing where it is none of them.
using Category = std::optional<std::size_t>;

/// Gives `take` each record's, in order. Returns the names of all columns, in order. Throws DataError naming
/// row and column, what was found and expected, for a missing or repeated column, and a record with another
/// number of fields than the first. No value of a record is ever in a text. Memory, `on_disk`: of
/// TableReader.
std::vector<std::string> ForEachCategory(const DataFiles& files, const CategoryColumn& column,
                                         const std::function<void(Category)>& take,
                                         Sha256* on_disk = nullptr);

/// The same of all records.
[[nodiscard]] std::vector<Category> ReadCategories(const DataFiles& files, const CategoryColumn& column);

/// Throws DataError naming `files` for more records than `capacity`.
void RequireCapacity(const DataFiles& files, std::int64_t records, std::int64_t capacity);

}  // namespace trefoil::data
