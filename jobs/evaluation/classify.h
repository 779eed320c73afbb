#pragma once
#include <string>

#include "jobs/records/model_schema.h"
#include "ml/dpsgd/training.h"

namespace trefoil::jobs {

/// The model's output for one row: through the hidden layers, if there are any, and the last one. Throws
/// DataError where the weights are so large that it is not finite.
[[nodiscard]] Eigen::RowVectorXd Logits(const ml::Model& model, const Eigen::RowVectorXd& row);

/// The class that logits mean: the largest one's (the first of equal ones), and with one column class 1 where
/// it is above `decision` (ml::DecisionLogit).
[[nodiscard]] int ClassOf(const Eigen::RowVectorXd& logits, double decision = 0);

/// The target that the one logit of a model of targets means, in the target's own unit; it may lie outside
/// the declared range, except with Poisson's loss. Pre: schema.records.data.target.
[[nodiscard]] double TargetOf(const ModelSchema& schema, const Eigen::RowVectorXd& logits);

/// The text of a class: the value of its label, or its number.
[[nodiscard]] std::string ClassName(const RecordSchema& schema, int index);

}  // namespace trefoil::jobs
