#pragma once
#include <optional>
#include <vector>

namespace trefoil::ml {

/// What a histogram of predictions by class says of a model of two classes, if a record is where the middle of its bin is.
struct ScoreEstimates {
  std::optional<double> auc;                ///< equal bins count half; nothing where a class has no records
  std::optional<double> log_loss;           ///< nothing without records
  std::optional<double> calibration_error;  ///< expected calibration error; likewise
  double threshold = 0.5;  ///< the edge with the largest balanced accuracy, of equal ones the nearest to 1/2
  std::optional<double> balanced_accuracy;  ///< there; as `auc`
};

/// Of the counts of class 0's bins and then class 1's, of equal width from 0 to 1, at least two of each class. They may
/// carry noise: those below zero count as zero. Post-processing, so that the noise covers the estimates, too.
[[nodiscard]] ScoreEstimates EstimatesOf(const std::vector<double>& histogram);

}  // namespace trefoil::ml
