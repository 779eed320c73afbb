#pragma once
#include <Eigen/Core>
#include <optional>
#include <string>
#include <vector>

#include "jobs/records/schema.h"

namespace trefoil::jobs {

/// Predictions as CSV: "row,label" and a line a record, its number from 1 and how the data call its class;
/// with `scores` also its logits, one a class, with two classes class 1's.
[[nodiscard]] std::string PredictionsCsv(const RecordSchema& schema, const std::vector<int>& classes,
                                         const std::optional<Eigen::MatrixXd>& scores);

}  // namespace trefoil::jobs
