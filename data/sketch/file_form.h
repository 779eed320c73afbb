#pragma once
#include <optional>
#include <string>
#include <vector>

#include "data/dataset/data_files.h"
#include "data/formats/csv_reader.h"

namespace trefoil::data {

/// How a table is written, as a job declares it; what a query gives as a CSV file with a header and commas.
struct FileForm {
  CsvDialect dialect{};
  char decimal = '.';
  bool header = false;
  bool query = false;                  ///< it is no file
  std::vector<std::string> missing{};  ///< the marks of missing values that occur, of those that are usual
};

/// The records of a table, fields as UTF-8 where an encoding is found.
struct FileRecords {
  FileForm form;                                  ///< but `missing`
  std::vector<std::vector<std::string>> records;  ///< without the header
  std::vector<std::size_t> rows;                  ///< of a file: the line that each begins on, from 1
  std::vector<std::string> names;                 ///< the header's, or none
};

/// Finds the separator that cuts most records into the same number of fields, more than one if there is such
/// a one; the encoding (none where all is ASCII, else UTF-8 where it is such, else Windows-1252 or Latin-1);
/// a decimal comma where fields have one and none a point (between commas: not where all may be of
/// thousands); and takes the first line for a header where none of its fields is a number and a column below
/// it has numbers alone. What a query gives has names, and an empty text for NULL. Throws DataError as
/// CsvReader, where its quotes keep the file from being read by the separator that most lines have, and
/// OpenQuery, and for a table without records. Pre: one file, or a query.
[[nodiscard]] FileRecords ReadRecordsOf(const DataFiles& files, std::optional<bool> header);

/// Whether a text is a finite number.
[[nodiscard]] bool IsNumber(const std::string& text, char decimal);

/// Marks of missing values that are usual, in the order of a job: the empty text, "?", "NA" and others.
[[nodiscard]] const std::vector<std::string>& UsualMarks();
[[nodiscard]] bool IsUsualMark(const std::string& text);

}  // namespace trefoil::data
