#pragma once
#include <optional>
#include <vector>

namespace trefoil::ml {

/// What a noisy histogram of predictions by class says of a model of two classes, if a record is where the
/// middle of its bin is. All are missing where noise could make up the records of a class.
struct ScoreEstimates {
  std::optional<double> auc;                ///< equal bins count half
  std::optional<double> auc_noise;          ///< the deviation that the counts' noise gives it, to first order
  std::optional<double> log_loss;           ///< at least 0
  std::optional<double> calibration_error;  ///< expected calibration error; noise makes it larger, at most 1
  /// The edge with the largest balanced accuracy, of equal ones the nearest to 1/2.
  std::optional<double> threshold;
  std::optional<double> balanced_accuracy;  ///< there; noise makes it larger, as the best of many
};

/// Of the counts of class 0's bins and then class 1's, of equal width from 0 to 1, at least two of each
/// class, each with independent noise of mean 0 and this deviation. Counts are taken as they are, also below
/// zero: to cut them would pull all estimates one way, while AUC and log-loss are ratios of sums that keep
/// their mean. Nothing where the counts of a class add up to less than three deviations of their sum's noise.
/// Post-processing: the noise covers the estimates, too.
[[nodiscard]] ScoreEstimates EstimatesOf(const std::vector<double>& histogram, double deviation);

/// A share of records, and the deviation that the counts' noise gives it, to first order.
struct ShareEstimate {
  double value = 0;  ///< 0 to 1
  double noise = 0;
};

/// What a noisy confusion table says of its classes; nothing of one where noise could make up what the share
/// is of.
struct TableEstimates {
  std::vector<std::optional<ShareEstimate>> recall;     ///< of a class's records those that are taken for it
  std::vector<std::optional<ShareEstimate>> precision;  ///< of those taken for a class those that are of it
  std::optional<double> balanced_accuracy;              ///< the mean recall, where there are all
};

/// Of c^2 counts, class by class by the class that records are taken for, each with independent noise of mean
/// 0 and this deviation, taken as they are. A share of counts that add up to less than three deviations of
/// their sum's noise is missing. Post-processing, as above.
[[nodiscard]] TableEstimates TableEstimatesOf(const std::vector<double>& table, double deviation);

}  // namespace trefoil::ml
