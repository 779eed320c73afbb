#include "jobs/records/row_norm.h"

#include <algorithm>
#include <cmath>

namespace trefoil::jobs {

double UsualRowNorm(const std::vector<data::Column>& columns, bool standardised) {
  double square = 0;
  for (const auto& column : columns) {
    switch (column.kind) {
      case data::ColumnKind::kCategory:
      case data::ColumnKind::kBin:
        square += 1;
        break;
      case data::ColumnKind::kNumber:
        square += standardised ? 1 : 1.0 / 3;
        break;
      case data::ColumnKind::kDate:
        square += 1.0 / 3;
        break;
      case data::ColumnKind::kText:
      case data::ColumnKind::kIgnore:
      case data::ColumnKind::kKey:
      case data::ColumnKind::kWeight:
        break;
    }
  }
  return std::max(1.0, std::round(10 * std::sqrt(square)) / 10);
}

double UsualRowNorm(const data::DataSpec& spec, bool standardised) {
  auto columns = spec.columns;
  std::erase_if(columns, [&](const data::Column& column) { return column.name == spec.label.column; });
  return UsualRowNorm(columns, standardised);
}

}  // namespace trefoil::jobs
