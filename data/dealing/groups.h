#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace trefoil::data {

/// Numbers the groups of rows with the same key, from 0 in the order of their first rows: that of each row.
/// Throws DataError naming the record of `path`, and not its key, where a group has more than `most` rows.
[[nodiscard]] std::vector<std::int64_t> GroupNumbers(const std::vector<std::string>& keys, std::int64_t most,
                                                     const std::filesystem::path& path);
[[nodiscard]] std::vector<std::int64_t> GroupNumbers(const std::vector<std::int64_t>& keys, std::int64_t most,
                                                     const std::filesystem::path& path);

}  // namespace trefoil::data
