#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace trefoil::testing_support {

/// All ways in which `teachers` vote for one of `classes`: the counts of each class.
inline std::vector<std::vector<std::int64_t>> AllCounts(std::int64_t teachers, std::size_t classes) {
  if (classes == 1) return {{teachers}};
  std::vector<std::vector<std::int64_t>> all;
  for (std::int64_t first = 0; first <= teachers; ++first) {
    for (auto rest : AllCounts(teachers - first, classes - 1)) {
      rest.insert(rest.begin(), first);
      all.push_back(rest);
    }
  }
  return all;
}

}  // namespace trefoil::testing_support
