#pragma once
#include <string>

#include "data/dataset/data_files.h"

namespace trefoil::data {

/// SHA-256, in hexadecimal, by which a ledger knows a data set: of the lines "KEY SHA-256-OF-THE-FILE", KEY
/// being x and y, or file, of [data], a line for each of its files. Of the bytes as they are on disk; of a
/// query the one line "query SHA-256-OF-WHAT-IT-GIVES". Throws DataError for a file that
/// cannot be read.
[[nodiscard]] std::string DataHash(const DataFiles& files);

}  // namespace trefoil::data
