#pragma once
#include <Eigen/Core>
#include <vector>

#include "jobs/statistics/layout.h"
#include "jobs/statistics/settings.h"
#include "mpc/ring.h"

namespace trefoil::jobs {

/// A number, and the standard deviation that the noise gives it, to first order.
struct NoisyNumber {
  double value = 0;
  double noise = 0;
};

/// A variance in parts of its column's squared range.
struct NoisyVariance {
  double value = 0;
  double noise = 0;   ///< standard deviation, to first order
  double common = 0;  ///< what of it the count's noise gives, by which all columns are divided alike
};

/// Of the records that have a value in a column, in its units but for the variance.
struct MomentsEstimate {
  double count = 0;    ///< how many there are
  double missing = 0;  ///< how many have none; 0 where none may miss
  NoisyNumber mean{};
  /// Of the records themselves: the root of the mean squared distance from the mean.
  NoisyNumber deviation{};
  /// Its square as the sum has it, in parts of the range's, which a double may not hold: noise may take it
  /// below zero, or beyond what the range allows.
  NoisyVariance variance{};
};

struct QuantileEstimate {
  double value = 0;       ///< in the column's units, interpolated within a bin
  double rank_noise = 0;  ///< deviation of the part of records that lies below it
};

/// All that a job releases, from what was opened alone.
struct StatisticsEstimates {
  std::vector<MomentsEstimate> moments;                  ///< as layout.moments
  std::vector<std::vector<double>> bins;                 ///< as layout.quantiles: counts, as they are
  std::vector<std::vector<QuantileEstimate>> quantiles;  ///< likewise, one a probability
  Eigen::MatrixXd correlations;                          ///< of job.correlations
  Eigen::MatrixXd correlations_noise;                    ///< or how far AsCorrelations moved them, if further
  std::vector<std::vector<double>> tables;               ///< as layout.tables: counts, as they are
};

/// Of the noise of all three parties on a statistic's sums, in records: of the sum of z, of a count.
[[nodiscard]] double NoiseOf(const StatisticsLayout& layout, Statistic statistic, double sigma);

/// `opened` is layout.size x 1; `sigma` the noise multiplier. Correlations are made a positive semidefinite
/// matrix by AsCorrelations. Cost: with K columns that are correlated about 10 K^3 multiplications, or at
/// most 200 K^3 where pairs contradict each other.
[[nodiscard]] StatisticsEstimates EstimatesOf(const StatisticsSettings& job, const StatisticsLayout& layout,
                                              const mpc::RingMatrix& opened, double sigma);

/// Replaces `values` by the non-decreasing numbers that are nearest to them in least squares (pool adjacent
/// violators).
void MakeAscending(std::vector<double>& values);

/// From a symmetric matrix with ones on the diagonal, makes one that also has no eigenvalue below zero (up to
/// rounding) and is near in squares weighted by 1/noise^2, so that pairs that are badly known give way to
/// those that are known well. `noise` is the deviation of each pair; its diagonal counts for nothing. Each of
/// at most 20 rounds takes the nearest matrix without such eigenvalues in squares that are weighted by
/// columns (Higham 2002, with Dykstra's correction of the diagonal), and then puts pairs back to what was
/// found, in part, the better known the more (Nesterov 1983). The first round that moves no pair by more than
/// its noise is the last; where noises differ fifty times and more, there may be none.
[[nodiscard]] Eigen::MatrixXd AsCorrelations(const Eigen::MatrixXd& matrix, const Eigen::MatrixXd& noise);

}  // namespace trefoil::jobs
