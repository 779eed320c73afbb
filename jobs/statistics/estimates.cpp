#include "jobs/statistics/estimates.h"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "jobs/gaussian_target.h"

namespace trefoil::jobs {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using mpc::Index;

/// What was opened, in records.
class Sums {
 public:
  Sums(const StatisticsLayout& layout, const mpc::RingMatrix& opened) : layout_(layout), opened_(opened) {}

  [[nodiscard]] double At(Statistic statistic, Index place) const {
    return std::ldexp(static_cast<double>(mpc::Signed(opened_(place, 0))), -layout_.bits) /
           layout_.FactorOf(statistic);
  }

 private:
  const StatisticsLayout& layout_;
  const mpc::RingMatrix& opened_;
};

/// Of z, from -1 to 1.
struct CentredMoments {
  double count = 0;
  double missing = 0;
  NoisyNumber mean{};
  NoisyNumber deviation{};
  NoisyVariance variance{};  // of z, and not yet in parts
};

double Square(double x) { return x * x; }

/// Of what is divided by, where noise has left nothing.
double AtLeastOne(double count) { return std::max(count, 1.0); }

CentredMoments CentredMomentsOf(const StatisticsLayout& layout, const LaidMoments& laid, const Sums& sums,
                                double sigma) {
  const auto at = [&](Index k) { return sums.At(Statistic::kMoments, laid.first + k); };
  const double noise = NoiseOf(layout, Statistic::kMoments, sigma);
  CentredMoments found;
  found.missing = laid.may_miss ? at(2) : 0;
  found.count = sums.At(Statistic::kCount, 0) - found.missing;
  const double count = AtLeastOne(found.count);
  const double of_all = NoiseOf(layout, Statistic::kCount, sigma);
  // A root is rounded alike on every machine, std::hypot is not: scales of features follow from this noise.
  const double of_count = std::sqrt(Square(of_all) + (laid.may_miss ? Square(noise) : 0));
  const double mean = std::clamp(at(0) / count, -1.0, 1.0);
  const double lost = at(1) / count;    // of the mean square, from 1
  const double most = 1 - mean * mean;  // of numbers at the two ends
  const double variance = std::clamp(most - lost, 0.0, most);
  const double deviation = std::sqrt(variance);
  found.mean = {.value = mean, .noise = std::hypot(noise, mean * of_count) / count};
  const double of_variance =
      std::sqrt(Square(noise) * (1 + 4 * mean * mean) + Square((lost + 2 * mean * mean) * of_count)) / count;
  found.variance = {.value = most - lost,
                    .noise = of_variance,
                    .common = std::abs(lost + 2 * mean * mean) * of_all / count};
  // Of a root: with nothing left of the variance the whole error's.
  found.deviation = {.value = deviation,
                     .noise = deviation > 0 ? std::min(of_variance / (2 * deviation), std::sqrt(of_variance))
                                            : std::sqrt(of_variance)};
  return found;
}

MomentsEstimate InUnits(const CentredMoments& found, const StatisticsColumn& column) {
  const double half = (column.high - column.low) / 2;
  return {.count = found.count,
          .missing = found.missing,
          .mean = {.value = column.low + (found.mean.value + 1) * half, .noise = found.mean.noise * half},
          .deviation = {.value = found.deviation.value * half, .noise = found.deviation.noise * half},
          .variance = {.value = found.variance.value / 4,
                       .noise = found.variance.noise / 4,
                       .common = found.variance.common / 4}};
}

/// Of cumulated counts that do not fall, at the place `wanted` times the last one: how many bins lie below
/// it.
double BinsBelow(const std::vector<double>& cumulated, double probability) {
  const double wanted = probability * cumulated.back();
  const auto next = std::upper_bound(cumulated.begin(), cumulated.end() - 1, wanted);
  const auto bin = static_cast<std::size_t>(next - cumulated.begin());
  const double before = bin == 0 ? 0 : cumulated[bin - 1];
  const double within = cumulated[bin] - before;
  return static_cast<double>(bin) + (within > 0 ? std::clamp((wanted - before) / within, 0.0, 1.0) : 0.0);
}

std::vector<QuantileEstimate> QuantilesOf(const StatisticsSettings& job, const StatisticsColumn& column,
                                          const std::vector<double>& bins, double noise) {
  std::vector<double> cumulated;
  double sum = 0;
  for (const double count : bins) cumulated.push_back(sum += count);
  MakeAscending(cumulated);
  for (double& count : cumulated) count = std::max(count, 0.0);
  const auto all = static_cast<double>(bins.size());
  const double records = AtLeastOne(cumulated.back());
  std::vector<QuantileEstimate> quantiles;
  for (const double p : job.probabilities) {
    // Where noise has left no record, as if all numbers were equally frequent.
    const double below = cumulated.back() > 0 ? BinsBelow(cumulated, p) : p * all;
    quantiles.push_back(
        {.value = column.low + (column.high - column.low) * (below / all),
         .rank_noise = noise * std::sqrt(below * Square(1 - p) + (all - below) * Square(p)) / records});
  }
  return quantiles;
}

/// What noise on a column's sums does to a correlation r = (e - m m') / (s s'), by a column's three sums: of
/// z, of 1 - z^2, and of records that have the value. With q = 1 / (s s') and the variance v = s^2:
/// dr = q de - q m' dm - r dv / (2 v) - ..., dm = (dS - m dn) / n, dv = (-dL + (1 - v - m^2) dn) / n - 2 m
/// dm.
struct Slopes {
  double of_sum = 0;
  double of_lost = 0;
  double of_count = 0;
};

Slopes SlopesOf(const CentredMoments& own, const CentredMoments& other, double q, double r) {
  const double count = AtLeastOne(own.count);
  const double mean = own.mean.value;
  const double of_variance = -r / (2 * Square(own.deviation.value));
  const double of_mean = -q * other.mean.value - 2 * mean * of_variance;
  const double lost = 1 - Square(own.deviation.value) - mean * mean;
  return {.of_sum = of_mean / count,
          .of_lost = -of_variance / count,
          .of_count = (lost * of_variance - mean * of_mean) / count};
}

NoisyNumber CorrelationOf(const StatisticsLayout& layout, const LaidPair& pair, const Sums& sums,
                          const std::vector<CentredMoments>& moments, double sigma) {
  const auto& one = moments[pair.one];
  const auto& other = moments[pair.other];
  const auto at = [&](Index k) { return sums.At(Statistic::kCorrelations, pair.first + k); };
  const double absent = pair.may_miss ? at(1) : 0;
  const double count = AtLeastOne(sums.At(Statistic::kCount, 0) - absent);
  const double product = at(0) / count;
  const double scale = one.deviation.value * other.deviation.value;
  if (scale == 0) return {.value = 0, .noise = 1};
  const double value = std::clamp((product - one.mean.value * other.mean.value) / scale, -1.0, 1.0);
  const double of_count = -product / (scale * count);
  double squares = Square(1 / (scale * count)) + (pair.may_miss ? Square(of_count) : 0);
  squares *= Square(NoiseOf(layout, Statistic::kCorrelations, sigma));
  double of_all = of_count;  // how many records there are is in all three counts
  const auto add = [&](const Slopes& slopes, bool may_miss) {
    squares += Square(NoiseOf(layout, Statistic::kMoments, sigma)) *
               (Square(slopes.of_sum) + Square(slopes.of_lost) + (may_miss ? Square(slopes.of_count) : 0));
    of_all += slopes.of_count;
  };
  add(SlopesOf(one, other, 1 / scale, value), layout.moments[pair.one].may_miss);
  add(SlopesOf(other, one, 1 / scale, value), layout.moments[pair.other].may_miss);
  squares += Square(NoiseOf(layout, Statistic::kCount, sigma) * of_all);
  return {.value = value, .noise = std::min(1.0, std::sqrt(squares))};
}

Eigen::SelfAdjointEigenSolver<MatrixXd> EigenOf(const MatrixXd& symmetric) {
  Eigen::SelfAdjointEigenSolver<MatrixXd> solver(symmetric);
  Require(solver.info() == Eigen::Success, "AsCorrelations: eigenvalues of finite numbers");
  return solver;
}

/// In least squares.
MatrixXd NearestSemidefinite(const MatrixXd& symmetric) {
  const auto solver = EigenOf(symmetric);
  return solver.eigenvectors() * solver.eigenvalues().cwiseMax(0.0).asDiagonal() *
         solver.eigenvectors().transpose();
}

/// How much is known of each pair of columns, by the noise on its correlation.
struct Trust {
  explicit Trust(const MatrixXd& of_pairs) : noise(of_pairs.cwiseMax(kLeastNoise)) {
    noise.diagonal().setConstant(std::numeric_limits<double>::infinity());
    const double least = noise.minCoeff();
    const VectorXd best = noise.rowwise().minCoeff();
    const VectorXd column = (least * best.cwiseInverse()).cwiseSqrt().cwiseMax(kLeastWeight);
    weights = column * column.transpose();
    part = (least * noise.cwiseProduct(weights).cwiseInverse()).cwiseAbs2();  // at most 1
  }

  static constexpr double kLeastNoise = 1e-9;
  static constexpr double kLeastWeight = 1e-3;  // so that eigenvalues keep their digits

  MatrixXd noise;    // off the diagonal
  MatrixXd weights;  // the least noise of all over the geometric mean of both columns' least
  MatrixXd part;     // to which a pair is put back, so that what one round minimises goes by 1/noise^2
};

void Correlate(const StatisticsSettings& job, const StatisticsLayout& layout, const Sums& sums,
               const std::vector<CentredMoments>& moments, double sigma, StatisticsEstimates& estimates) {
  const auto size = static_cast<Index>(job.correlations.size());
  MatrixXd found = MatrixXd::Identity(size, size);
  MatrixXd noise = MatrixXd::Zero(size, size);
  auto pair = layout.correlations.begin();
  for (Index j = 0; j < size; ++j) {
    for (Index k = j + 1; k < size; ++k, ++pair) {
      const auto one = CorrelationOf(layout, *pair, sums, moments, sigma);
      found(j, k) = found(k, j) = one.value;
      noise(j, k) = noise(k, j) = one.noise;
    }
  }
  estimates.correlations = AsCorrelations(found, noise);
  const MatrixXd moved = (estimates.correlations - found).cwiseAbs();
  estimates.correlations_noise = noise.cwiseMax(moved).cwiseMin(1.0);
}

}  // namespace

double NoiseOf(const StatisticsLayout& layout, Statistic statistic, double sigma) {
  return kAllOverTwo * sigma / layout.FactorOf(statistic);
}

void MakeAscending(std::vector<double>& values) {
  struct Block {
    double mean;
    std::size_t size;
  };
  std::vector<Block> blocks;
  for (const double value : values) {
    Block last{.mean = value, .size = 1};
    for (; !blocks.empty() && blocks.back().mean >= last.mean; blocks.pop_back()) {
      const auto& before = blocks.back();
      const auto size = before.size + last.size;
      last.mean += (before.mean - last.mean) * static_cast<double>(before.size) / static_cast<double>(size);
      last.size = size;
    }
    blocks.push_back(last);
  }
  auto next = values.begin();
  for (const auto& block : blocks) next = std::fill_n(next, block.size, block.mean);
}

MatrixXd AsCorrelations(const MatrixXd& matrix, const MatrixXd& noise) {
  constexpr int kMaxRounds = 20;
  constexpr double kLeastDiagonal = 0.01;  // so that nothing is divided by 0
  if (matrix.size() == 0 || EigenOf(matrix).eigenvalues().minCoeff() >= 0) return matrix;
  const Trust trust(noise);
  MatrixXd wanted = matrix;
  MatrixXd before = matrix;
  MatrixXd kept;
  for (int round = 0; round < kMaxRounds; ++round) {
    const MatrixXd nearest =
        NearestSemidefinite(wanted.cwiseProduct(trust.weights)).cwiseQuotient(trust.weights);
    const VectorXd scale = nearest.diagonal().cwiseSqrt().cwiseInverse();
    kept = scale.asDiagonal() * nearest * scale.asDiagonal();
    kept.diagonal().setOnes();
    if (((kept - matrix).cwiseAbs().array() <= trust.noise.array()).all()) break;
    const VectorXd diagonal = wanted.diagonal() - nearest.diagonal() + VectorXd::Ones(matrix.rows());
    const MatrixXd ahead = nearest + (nearest - before) * (round / (round + 3.0));
    wanted = ahead + trust.part.cwiseProduct(matrix - ahead);
    wanted.diagonal() = diagonal.cwiseMax(kLeastDiagonal);
    before = nearest;
  }
  return kept;
}

StatisticsEstimates EstimatesOf(const StatisticsSettings& job, const StatisticsLayout& layout,
                                const mpc::RingMatrix& opened, double sigma) {
  Require(opened.rows() == layout.size && opened.cols() == 1, "EstimatesOf: a sum of the layout");
  const Sums sums(layout, opened);
  StatisticsEstimates estimates;
  std::vector<CentredMoments> centred;
  for (const auto& laid : layout.moments) {
    centred.push_back(CentredMomentsOf(layout, laid, sums, sigma));
    estimates.moments.push_back(InUnits(centred.back(), job.columns[laid.column]));
  }
  const auto counts = [&](Statistic statistic, Index first, std::size_t size) {
    std::vector<double> of;
    for (std::size_t k = 0; k < size; ++k) of.push_back(sums.At(statistic, first + static_cast<Index>(k)));
    return of;
  };
  const double of_bin = NoiseOf(layout, Statistic::kQuantiles, sigma);
  for (const auto& [column, first] : layout.quantiles) {
    estimates.bins.push_back(counts(Statistic::kQuantiles, first, static_cast<std::size_t>(layout.bins)));
    estimates.quantiles.push_back(QuantilesOf(job, job.columns[column], estimates.bins.back(), of_bin));
  }
  Correlate(job, layout, sums, centred, sigma, estimates);
  for (const auto& table : layout.tables)
    estimates.tables.push_back(
        counts(Statistic::kTables, table.first, table.row_values.size() * table.column_values.size()));
  return estimates;
}

}  // namespace trefoil::jobs
