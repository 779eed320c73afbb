#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace trefoil::jobs {

/// The least number of insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`.
[[nodiscard]] std::size_t EditDistance(std::string_view a, std::string_view b);

/// "; did you mean NAME?" with the candidate nearest to `name`, or nothing where none is near.
[[nodiscard]] std::string DidYouMean(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace trefoil::jobs
