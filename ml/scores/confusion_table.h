#pragma once
#include <Eigen/Core>
#include <cstdint>
#include <optional>

namespace trefoil::ml {

/// How often records of each class were taken for each class.
class ConfusionTable {
 public:
  /// Pre: at least two classes, here and below each class from 0 to below their number.
  explicit ConfusionTable(int classes);

  void Add(int actual, int predicted) { ++counts_(actual, predicted); }

  [[nodiscard]] int classes() const { return static_cast<int>(counts_.rows()); }
  [[nodiscard]] std::int64_t count(int actual, int predicted) const { return counts_(actual, predicted); }
  [[nodiscard]] std::int64_t records() const { return counts_.sum(); }
  [[nodiscard]] std::int64_t correct() const { return counts_.trace(); }
  [[nodiscard]] std::int64_t records(int actual) const { return counts_.row(actual).sum(); }
  [[nodiscard]] std::int64_t predicted(int as) const { return counts_.col(as).sum(); }

  /// Share of the records that were taken for their own class, 0 to 1. Pre: there are records.
  [[nodiscard]] double accuracy() const;
  /// The same of the records of one class; nothing where it has no records.
  [[nodiscard]] std::optional<double> recall(int actual) const;
  /// Share of those taken for a class that are of it; nothing where no record was taken for it.
  [[nodiscard]] std::optional<double> precision(int predicted) const;
  /// The mean recall of the classes that have records. Pre: there are records.
  [[nodiscard]] double balanced_accuracy() const;

 private:
  Eigen::Matrix<std::int64_t, Eigen::Dynamic, Eigen::Dynamic> counts_;  // actual, predicted
};

}  // namespace trefoil::ml
