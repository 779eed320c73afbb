#pragma once
#include <Eigen/Core>
#include <string>
#include <vector>

#include "jobs/records/schema.h"

namespace trefoil::jobs {

/// Numbers of each record, a row each: one a class, with two classes class 1's. Their columns are NAME_CLASS.
struct PredictionColumns {
  std::string name;
  Eigen::MatrixXd values;
};

/// Predictions as CSV: "row,label" and a line a record, its number from 1 and how the data call its class;
/// then its `columns`.
[[nodiscard]] std::string PredictionsCsv(const RecordSchema& schema, const std::vector<int>& classes,
                                         const std::vector<PredictionColumns>& columns);

/// Predicted targets as CSV: "row,target" and a line a record.
[[nodiscard]] std::string TargetsCsv(const std::vector<double>& targets);

}  // namespace trefoil::jobs
