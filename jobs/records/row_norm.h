#pragma once
#include <cstdint>
#include <vector>

#include "data/dataset/spec.h"

namespace trefoil::jobs {

/// With more features a row's direction says most of what its length does.
inline constexpr std::int64_t kFewFeatures = 32;

/// About how long rows of a table's columns are, before they are shortened, by the columns alone: a number or
/// date within its scale adds a third to the square of the length, and `standardised` numbers 1; a category
/// or bin adds 1. At least 1, rounded to tenths. Columns of the label are to be left out.
[[nodiscard]] double UsualRowNorm(const std::vector<data::Column>& columns, bool standardised);

/// The same of a table that is used as it is, by its own label.
[[nodiscard]] double UsualRowNorm(const data::DataSpec& spec, bool standardised);

}  // namespace trefoil::jobs
