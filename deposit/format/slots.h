#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "deposit/study.h"

namespace trefoil::deposit {

/// The file by which an owner knows in which row of a deposit each of its records lies; nobody else does.
inline constexpr const char* kSlotsFile = "slots.csv";

/// Of each record, in the order in which the owner handed them in, its row, both counted from 0. `slots`: as
/// ShareRows gives them, of rows that have each record once.
[[nodiscard]] std::vector<std::int64_t> SlotsOfRecords(const std::vector<std::int64_t>& slots);

/// Such a file of a deposit: its id, the number of records, "record,slot", and a line a record; both are
/// counted from 1 there.
[[nodiscard]] std::string SlotsText(const Hash& deposit, const std::vector<std::int64_t>& of_records);

/// What such a file of that deposit, of so many rows, says, as SlotsOfRecords. Throws DataError naming it and
/// the line for anything that SlotsText would not give; ConfigError where it cannot be read.
[[nodiscard]] std::vector<std::int64_t> ReadSlots(const std::filesystem::path& file, const Hash& deposit,
                                                  std::uint64_t capacity);

}  // namespace trefoil::deposit
