#pragma once
#include <cstdint>
#include <filesystem>
#include <vector>

namespace trefoil::data {

/// How many labels a file of teachers' predictions holds, and of which classes.
struct TeacherShape {
  std::int64_t teachers = 0;
  std::int64_t queries = 0;
  int classes = 0;
};

/// The teachers' predictions, from any framework: the class that each teacher (a row) gives each query (a
/// column), whole numbers from 0. NPY of two dimensions, or CSV without a header. Throws DataError naming
/// file, teacher and query (from 1) for another shape and for what is no class.
[[nodiscard]] std::vector<std::vector<int>> ReadTeacherLabels(const std::filesystem::path& path,
                                                              const TeacherShape& shape);

/// As ReadTeacherLabels reads it: NPY. Pre: rows of one length.
void WriteTeacherLabels(const std::filesystem::path& path, const std::vector<std::vector<int>>& labels);

}  // namespace trefoil::data
