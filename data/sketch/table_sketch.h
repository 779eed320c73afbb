#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "data/sketch/file_form.h"

namespace trefoil::data {

/// Distinct values of a column beyond so many are not kept.
inline constexpr std::size_t kMaxSketchedValues = 1000;

/// What one column of a file holds. All but the name is private: it tells of records.
struct ColumnSketch {
  struct Value {
    std::string text;  ///< where all are numbers, the shortest text of this one, with a decimal point
    std::size_t rows = 0;
  };

  std::string name;
  bool numbers = false;     ///< whether all fields that are not missing are finite numbers
  bool whole = false;       ///< and all whole ones
  bool all_differ = false;  ///< and no two of them the same
  /// Where all are dates of one format (data/columns/date_format.h).
  std::optional<std::string> date_format{};
  std::vector<Value> values;  ///< distinct ones, in the order of numbers or texts; equal numbers are one
  bool prose = false;         ///< whether most fields are of three words or more
  bool more_values = false;   ///< whether there are more than kMaxSketchedValues, which are left out
  double middle = 0;          ///< of numbers and dates (in days since 2000-01-01) the median,
  double spread =
      0;  ///< and its distance to the further of the 5 % and 95 % quantiles; if that is 0, to the end
  double least = 0;
  double most = 0;
  bool missing = false;  ///< whether some field has a mark
  /// Where one text stands among numbers, which is a mark of the column's own: that, and the usual ones in
  /// the column.
  std::vector<std::string> marks{};
  std::size_t marked_rows = 0;  ///< with the first of these
};

/// What a table holds: for its owner's eyes, to propose a job.
struct TableSketch {
  FileForm form;
  std::size_t rows = 0;
  std::vector<ColumnSketch> columns;  ///< without a header they are named c1, c2, ...
};

/// Reads one CSV file, or what a query gives. `header`: whether its first line names the columns, where that
/// is known.
/// Memory: the content twice. Throws DataError for a table without rows, or of one column, a row with another
/// number of fields, a column that is named twice or not at all, and as ReadRecordsOf.
[[nodiscard]] TableSketch SketchTable(const DataFiles& files, std::optional<bool> header = {});

}  // namespace trefoil::data
