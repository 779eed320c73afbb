#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "data/dataset/load.h"
#include "jobs/records/schema.h"
#include "ml/dpsgd/training.h"

namespace trefoil::jobs {

/// How a model does on clear records.
struct Evaluation {
  /// The records of one class.
  struct ClassCount {
    std::int64_t records = 0;
    std::int64_t correct = 0;
    std::int64_t predicted = 0;  ///< records of any class that the model takes for this one
  };

  std::int64_t records = 0;
  std::int64_t correct = 0;
  std::vector<ClassCount> classes;

  /// Share of correct predictions, 0 to 1. Pre: there are records.
  [[nodiscard]] double accuracy() const {
    return static_cast<double>(correct) / static_cast<double>(records);
  }
};

/// The model's output for one row: through the hidden layers, if there are any, and the last one.
[[nodiscard]] Eigen::RowVectorXd Logits(const ml::Model& model, const Eigen::RowVectorXd& row);

/// The class that logits mean: the largest one's (the first of equal ones), and with one column class 1 where
/// it is above zero.
[[nodiscard]] int ClassOf(const Eigen::RowVectorXd& logits);

/// How the data call a class: the value of its label, or its number.
[[nodiscard]] std::string ClassName(const RecordSchema& schema, int index);

/// Compares predictions with the labels. `table` has been prepared as for training (LoadRecords).
[[nodiscard]] Evaluation Evaluate(const ml::Model& model, const data::Table& table, int classes);

}  // namespace trefoil::jobs
