#include "ml/clear/local_training.h"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <numeric>
#include <sstream>

#include "base/ceil_log2.h"
#include "base/error.h"
#include "dp/mechanisms/discrete_gaussian.h"
#include "ml/plan/step_privacy.h"
#include "ml/records.h"

namespace trefoil::ml {
namespace {

using mpc::Index;
using mpc::RingMatrix;

constexpr int kMaxLatticeBits = 16;
constexpr int kMinLatticeBits = 8;
constexpr int kExactBits = 53;             // integers that a double keeps
constexpr int kWeightBits = 16;            // of records' own weights
constexpr std::size_t kTrainedATask = 64;  // a task of the pool
constexpr double kLargestRate = 1e9;       // over the batch: squares of all weights stay far from infinity
// Above the roundings of a clip factor and a norm of a thousand errors in double precision.
constexpr double kFactorSlack = 1 + 1e-9;

void CheckLocal(const LocalSettings& s, const TrainingSettings& training, double rate) {
  const auto check = [](bool holds, const char* key, double found, const char* expected) {
    if (holds) return;
    std::ostringstream text;
    text << "initialisation." << key << ": found " << found << ", expected " << expected;
    throw ConfigError(text.str());
  };
  check(s.steps >= 1, "steps", s.steps, "at least 1");
  check(s.expected_batch > 0 && rate <= 1, "expected_batch", s.expected_batch,
        "above 0, at most a third of all rows");
  check(s.learning_rate > 0 && s.learning_rate <= kLargestRate * s.expected_batch, "learning_rate",
        s.learning_rate, "above 0, at most 10^9 times expected_batch");
  check(s.clip > 0 && s.clip <= 1024, "clip", s.clip, "above 0, at most 1024");
  check(!s.sigma || (*s.sigma >= 0 && std::isfinite(*s.sigma)), "sigma", s.sigma.value_or(0), "0 or more");
  if (!training.hidden.empty())
    throw ConfigError(
        "model.hidden: found hidden layers, expected [] with [initialisation], whose local models are "
        "linear: networks from local ones are no better at the same epsilon");
  for (const std::int64_t rows : training.rows) {
    if (rows < 1)
      throw ConfigError("data.rows: found a party without rows, expected rows at each with [initialisation]");
  }
}

/// The finest lattice on which sums over any batch, and logits, are integers below 2^53.
int LatticeBits(const TrainingSettings& settings, double clip) {
  const auto rows = static_cast<double>(*std::max_element(settings.rows.begin(), settings.rows.end()));
  const double largest = std::max(rows * clip, kLargestLocalLogit) * 1.01;
  const int bits = (kExactBits - CeilLog2(largest)) / 2;
  if (bits < kMinLatticeBits) {
    throw ConfigError(
        "initialisation.clip: too large for so many rows, expected at most 2^36 for their product");
  }
  return std::min(bits, kMaxLatticeBits);
}

double BatchOf(const LocalPlan& plan, int owner) {
  return plan.sampling_rate *
         static_cast<double>(plan.encoding.settings.rows[static_cast<std::size_t>(owner)]);
}

/// Predictions less labels, of Huber's loss clamped to its threshold. One element or row at a time by scalar
/// code: what a record gives must not depend on its place in a batch, not by a bit.
/// `single`: with one column squared loss takes logit 0 for the middle between the labels
/// (ml/dpsgd/activation.h).
double ErrorOf(const TrainingSettings& settings, bool single, double logit, double label) {
  const double residual = logit + (single ? 0.5 : 0) - label;
  if (settings.loss == Loss::kSquared) return residual;
  if (settings.loss == Loss::kPoisson) return ShareAt(settings.loss, logit) - label;
  if (settings.loss == Loss::kHuber)
    return std::clamp(residual, -settings.huber_threshold, settings.huber_threshold);
  return 1 / (1 + std::exp(-logit)) - label;
}

/// The errors of a row: predictions less labels, and the sum of their squares.
double ErrorsOf(const TrainingSettings& settings, const Eigen::Ref<const Eigen::RowVectorXd>& logits,
                std::vector<double>& errors) {
  const bool softmax = settings.loss == Loss::kSoftmax && logits.size() > 1;
  const double largest = softmax ? logits.maxCoeff() : 0;
  double sum = 0;
  if (softmax) {
    for (const double logit : logits) sum += std::exp(logit - largest);
  }
  double squared = 0;
  for (Index k = 0; k < logits.size(); ++k) {
    double& error = errors[static_cast<std::size_t>(k)];  // the label, as it comes
    error = softmax ? std::exp(logits(k) - largest) / sum - error
                    : ErrorOf(settings, logits.size() == 1, logits(k), error);
    squared += error * error;
  }
  return squared;
}

/// The weight of the class that a row's labels say, as its owner has encoded them.
double WeightOf(const TrainingSettings& settings, const std::vector<double>& labels) {
  if (settings.class_weights.empty()) return 1;
  if (labels.size() == 1) return settings.class_weights[labels[0] > 0 ? 1 : 0];
  const auto own = std::max_element(labels.begin(), labels.end()) - labels.begin();
  return settings.class_weights[static_cast<std::size_t>(own)];
}

/// The record's own weight, as its owner has encoded it.
double OwnWeightOf(const StepPlan& plan, const RingMatrix& encoded, Index row) {
  if (plan.record_weights.largest == 0) return 1;
  return std::ldexp(static_cast<double>(encoded(row, encoded.cols() - 1)), -plan.record_weights.frac_bits);
}

/// Errors, each row's times the weight of its class and its own, times min(1, C / (||x|| ||e||)), towards
/// zero on the lattice: B x c.
Eigen::MatrixXd ClippedErrors(const LocalPlan& plan, const RingMatrix& encoded,
                              const Eigen::MatrixXd& logits) {
  const Index inputs = plan.encoding.settings.features + 1;
  const Index columns = plan.encoding.columns;
  const int f = plan.lattice_bits();
  const double one = std::ldexp(1.0, f);
  Eigen::MatrixXd clipped(logits.rows(), columns);
  std::vector<double> errors(static_cast<std::size_t>(columns));
  for (Index j = 0; j < logits.rows(); ++j) {
    for (Index k = 0; k < columns; ++k)
      errors[static_cast<std::size_t>(k)] = static_cast<double>(encoded(j, inputs + k)) / one;
    const double weight = WeightOf(plan.encoding.settings, errors) * OwnWeightOf(plan.encoding, encoded, j);
    const double squared = weight * weight * ErrorsOf(plan.encoding.settings, logits.row(j), errors);
    const double row = std::ldexp(static_cast<double>(encoded(j, inputs + columns)), -2 * f);
    const double norm = std::sqrt(row * squared);
    const double factor = weight * (norm > plan.settings.clip ? plan.settings.clip / norm : 1);
    for (Index k = 0; k < columns; ++k)
      clipped(j, k) = std::trunc(errors[static_cast<std::size_t>(k)] * factor * one);
  }
  return clipped;
}

/// The same for one task's rows.
Eigen::MatrixXd GradientsOf(const LocalPlan& plan, const Eigen::MatrixXd& weights, const OwnRecords& own,
                            const std::vector<std::int64_t>& rows) {
  const Index inputs = plan.encoding.settings.features + 1;
  const int f = plan.lattice_bits();
  const RingMatrix encoded = EncodeRecords(plan.encoding, own, rows, static_cast<std::int64_t>(rows.size()));
  const Eigen::MatrixXd x =
      encoded.leftCols(inputs).unaryExpr([](mpc::Word w) { return mpc::Signed(w); }).cast<double>().matrix();
  const Eigen::MatrixXd logits = x * weights * std::ldexp(1.0, -f);
  return x.transpose() * ClippedErrors(plan, encoded, logits);
}

/// The noisy sum, less a copy of the noise.
void AddGaussian(Eigen::MatrixXd& sum, const dp::DiscreteGaussian& sampler, RandomStream& stream) {
  for (Index k = 0; k < sum.size(); ++k) {
    const auto exact = static_cast<std::int64_t>(sum.data()[k]) + sampler.Sample(stream);
    sum.data()[k] = static_cast<double>(exact);
  }
}

/// Weights on the lattice, scaled down where a logit could exceed the largest: post-processing.
Eigen::MatrixXd KeptOnLattice(const LocalPlan& plan, const Eigen::MatrixXd& weights) {
  const double one = std::ldexp(1.0, plan.lattice_bits());
  const double rounding = std::sqrt(static_cast<double>(weights.rows())) / one;
  const double row = dp::RowBound(plan.encoding.example);
  const double logit = row * (weights.colwise().norm().maxCoeff() + rounding);
  const auto onto = [one](double w) { return std::round(w * one) / one; };
  if (logit <= kLargestLocalLogit) return weights.unaryExpr(onto);
  const double factor = kLargestLocalLogit / logit;
  return (factor * weights).unaryExpr([one](double w) { return std::trunc(w * one) / one; });
}

}  // namespace

LocalPlan MakeLocalPlan(const TrainingSettings& settings, const LocalSettings& local) {
  const double rows =
      static_cast<double>(std::accumulate(settings.rows.begin(), settings.rows.end(), std::int64_t{0}));
  LocalPlan plan;
  plan.settings = local;
  plan.sampling_rate = 3 * local.expected_batch / rows;
  CheckLocal(local, settings, plan.sampling_rate);
  plan.encoding.settings = settings;
  plan.encoding.settings.row_fraction_bits.reset();
  plan.encoding.settings.error_fraction_bits.reset();
  plan.encoding.settings.fraction_bits = LatticeBits(settings, local.clip);
  plan.encoding.columns = settings.classes == 2 ? 1 : settings.classes;
  plan.encoding.row_norm_bits = 2 * plan.lattice_bits();
  plan.encoding.example = {.frac_bits = plan.lattice_bits(),
                           .row_norm = settings.row_norm,
                           .columns = plan.encoding.columns,
                           .error_norm = 0};
  if (settings.max_record_weight)
    plan.encoding.record_weights = {.frac_bits = kWeightBits,
                                    .largest = static_cast<mpc::Word>(
                                        std::llround(std::ldexp(*settings.max_record_weight, kWeightBits)))};
  plan.sensitivity = local.clip * kFactorSlack;
  plan.lattice_sensitivity =
      static_cast<std::uint64_t>(std::ceil(std::ldexp(plan.sensitivity, 2 * plan.lattice_bits())));
  plan.sigma = OnSigmaLattice(local.sigma ? *local.sigma
                                          : dp::CalibrateNoiseMultiplier(local.target_epsilon, local.delta,
                                                                         plan.sampling_rate, local.steps,
                                                                         settings.accountant));
  if (plan.sigma > 0) (void)dp::DiscreteGaussian(NoiseVariance(plan.sigma, plan.lattice_sensitivity, 0));
  return plan;
}

dp::LocalTraining EventOf(const LocalPlan& plan) {
  const auto variance = NoiseVariance(plan.sigma, plan.lattice_sensitivity, 0).convert_to<double>();
  return {.steps = plan.settings.steps,
          .sampling_rate = plan.sampling_rate,
          .sigma = plan.sigma,
          .sensitivity = plan.sensitivity,
          .clip = plan.settings.clip,
          .deviation = std::floor(std::sqrt(variance) * (1 - 1e-12))};
}

Eigen::MatrixXd SumClippedGradients(const LocalPlan& plan, const Eigen::MatrixXd& weights,
                                    const OwnRecords& own, const std::vector<std::int64_t>& rows,
                                    ThreadPool& pool) {
  Eigen::MatrixXd sum = Eigen::MatrixXd::Zero(plan.encoding.settings.features + 1, plan.encoding.columns);
  std::mutex mutex;
  pool.ParallelFor(rows.size(), kTrainedATask, [&](std::size_t begin, std::size_t end) {
    const std::vector<std::int64_t> some(rows.begin() + static_cast<std::ptrdiff_t>(begin),
                                         rows.begin() + static_cast<std::ptrdiff_t>(end));
    const Eigen::MatrixXd part = GradientsOf(plan, weights, own, some);
    const std::lock_guard lock(mutex);
    sum += part;  // exact, so that the order of the tasks does not show
  });
  return sum;
}

Eigen::MatrixXd TrainLocally(const LocalPlan& plan, int owner, const OwnRecords& own, ThreadPool& pool,
                             LocalCoins coins) {
  Require(own.rows() <= plan.encoding.settings.rows[static_cast<std::size_t>(owner)],
          "TrainLocally: at most the declared rows");
  std::optional<dp::DiscreteGaussian> sampler;
  if (plan.sigma > 0) sampler.emplace(NoiseVariance(plan.sigma, plan.lattice_sensitivity, 0));
  const double step =
      std::ldexp(plan.settings.learning_rate / BatchOf(plan, owner), -2 * plan.lattice_bits());
  Eigen::MatrixXd weights = Eigen::MatrixXd::Zero(plan.encoding.settings.features + 1, plan.encoding.columns);
  for (int k = 0; k < plan.settings.steps; ++k) {
    const auto rows = DrawRows(coins.rows, own.rows(), plan.sampling_rate, own.rows());
    Eigen::MatrixXd sum = SumClippedGradients(plan, weights, own, rows, pool);
    if (sampler) AddGaussian(sum, *sampler, coins.noise);
    weights = KeptOnLattice(plan, weights - step * sum);
  }
  return weights;
}

}  // namespace trefoil::ml
