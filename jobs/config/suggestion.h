#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace trefoil::jobs {

/// The smallest number of insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`,
/// where no part is edited twice ("optimal string alignment"). Cost: time and memory |a| |b|.
[[nodiscard]] std::size_t EditDistance(std::string_view a, std::string_view b);

/// "; did you mean NAME?" with the candidate nearest to `name`, the first of equal ones; nothing where none
/// that shares a character with it is within a third of its length in edits (or one edit).
[[nodiscard]] std::string DidYouMean(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace trefoil::jobs
