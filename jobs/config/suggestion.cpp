#include "jobs/config/suggestion.h"

#include <algorithm>

namespace trefoil::jobs {

std::size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> cost(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        cost[i][j] = i + j;
        continue;
      }
      cost[i][j] =
          std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, cost[i - 1][j - 1] + (a[i - 1] != b[j - 1])});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
    }
  }
  return cost[a.size()][b.size()];
}

std::string DidYouMean(std::string_view name, const std::vector<std::string>& candidates) {
  // Farther than a third of the name is a different word rather than a slip.
  const std::size_t limit = std::max<std::size_t>(1, name.size() / 3);
  const std::string* best = nullptr;
  std::size_t least = limit + 1;
  for (const auto& candidate : candidates) {
    const auto distance = EditDistance(name, candidate);
    // Where nothing of the name is left, as of "," for ":", it is no slip either.
    if (distance >= least || distance == std::max(name.size(), candidate.size())) continue;
    least = distance;
    best = &candidate;
  }
  return best == nullptr ? "" : "; did you mean " + *best + "?";
}

}  // namespace trefoil::jobs
