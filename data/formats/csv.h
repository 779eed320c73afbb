#pragma once
#include <array>
#include <filesystem>
#include <vector>

#include "data/dataset/data_files.h"
#include "data/dataset/spec.h"
#include "data/dataset/table.h"
#include "data/formats/csv_reader.h"
#include "data/tables/table_reader.h"

namespace trefoil::data {

/// Reads a table by the spec's columns, features in the order of the spec. With a header, columns are
/// found by name and each must be declared once. Without one, the spec names the file's columns in order, and
/// the label is the column of that name or else the file's last. A missing mark is what the column fills in,
/// else 0 for a number or date (its mean), all zeros for a category or bins, and an empty text; a label is
/// never missing. With labels ignored, their column may be missing (without a header: from all rows), and its
/// fields may be anything; so may weights, whose column may be missing from a header. Pre: ValidateSpec(spec)
/// passes. Throws DataError naming row (the line in the file, from 1) and column for: a missing, duplicate or
/// undeclared column, a ragged row, what is no finite number of magnitude at most kLargestValue after
/// scaling, no date of the declared format, an undeclared category or label, a weight out of its range.
[[nodiscard]] Table ReadCsv(const DataFiles& files, const DataSpec& spec, LabelUse labels = LabelUse::kRead);

/// The names of a file's columns in order: of its header, which is read and checked, or as the spec declares
/// them. Throws DataError as ReadCsv().
[[nodiscard]] std::vector<std::string> CsvColumnNames(const DataSpec& spec, TableReader& reader,
                                                      LabelUse labels = LabelUse::kRead);

/// A field as RFC 4180 has it: in quotes where it holds a separator, a quote or an end of line, or where
/// blanks begin or end it, which readers drop.
[[nodiscard]] std::string CsvField(const std::string& text, char separator = ',');

/// Copies the records of a table to `targets`, byte for byte and in order: record i to
/// targets[party_of_row[i]], or nowhere if that is negative. The first file's header goes to all, and a byte
/// order mark where the dialect may say another encoding. Throws DataError if a file is malformed, they have
/// another number of records, or only some have the mark that matters.
void SplitCsv(const DataFiles& files, bool header, const std::vector<int>& party_of_row,
              const std::array<std::filesystem::path, 3>& targets, const CsvDialect& dialect = {});

}  // namespace trefoil::data
