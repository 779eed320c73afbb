#pragma once
#include <limits>
#include <string>
#include <vector>

#include "data/dataset/spec.h"

namespace trefoil::data {

/// One number of a row, before anything is extracted of the row or it is scaled to a norm, and what it comes
/// from.
struct FeatureColumn {
  std::string column;  ///< the column's name; of formats without names x1, x2, ...
  /// What the number is 1 for, else 0: a category, a bin as "18 to below 30", "(missing)"; empty: it is
  /// (value - mean)/scale, of a date of its days since the origin.
  std::string value{};
  double mean = 0;
  double scale = 1;
  double low = -std::numeric_limits<double>::infinity();  ///< what is below counts as it, before all else
  double high = std::numeric_limits<double>::infinity();  ///< likewise
};

/// All of a row's, in their order: spec.features of them.
[[nodiscard]] std::vector<FeatureColumn> FeatureColumns(const DataSpec& spec);

}  // namespace trefoil::data
