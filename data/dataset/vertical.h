#pragma once
#include <array>
#include <cstdint>
#include <filesystem>

#include "data/dataset/data_files.h"
#include "data/dataset/spec.h"
#include "data/dataset/table.h"

namespace trefoil::data {

/// Copies the columns of a vertical spec's table, the first spec.rows[0] records, to `targets`: to each
/// party's its own, the key, and the label if it holds that. Returns how many records there were. Throws
/// DataError as ReadCsv() for the columns.
std::int64_t SplitCsvColumns(const DataFiles& files, const DataSpec& spec,
                             const std::array<std::filesystem::path, 3>& targets);

/// Puts the records of `path` in the order of their keys, byte by byte. Pre: a key a record. Throws
/// DataError, which names the record and not the key, where one occurs twice.
void SortByKey(Table& table, const std::filesystem::path& path);

}  // namespace trefoil::data
