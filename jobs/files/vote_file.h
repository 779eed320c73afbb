#pragma once
#include <cstdint>
#include <filesystem>
#include <vector>

namespace trefoil::jobs {

/// The teachers' votes in the clear: a row a query, a column a class, each a number of teachers.
struct VoteFile {
  std::vector<std::vector<std::int64_t>> counts;
  std::int64_t teachers = 0;  ///< votes of a query, the same for all
};

/// Reads NPY (two dimensions, whole numbers of any type) or CSV without a header. Throws DataError naming the
/// place for anything else: no query, no class, a count that is negative or no whole number, a query with
/// another number of votes than the first.
[[nodiscard]] VoteFile ReadVotes(const std::filesystem::path& file);

}  // namespace trefoil::jobs
