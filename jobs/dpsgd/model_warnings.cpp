#include "jobs/dpsgd/model_warnings.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>

#include "jobs/dpsgd/settings/training_settings.h"
#include "jobs/evaluation/classify.h"
#include "jobs/records/owner_warnings.h"

namespace trefoil::jobs {
namespace {

/// Of fewer records nothing is said of their mean.
constexpr std::int64_t kMinRecords = 20;
/// The part of the loss of a model of zeros that a training takes away at least, if it has got anywhere.
constexpr double kMoved = 0.02;

/// log(1 + e^z), also where e^z is no number.
double LogOfOnePlusExp(double z) { return std::max(z, 0.0) + std::log1p(std::exp(-std::abs(z))); }

/// How logits fit a record: its loss, and the length of the loss's gradient in them.
struct Fit {
  double loss = 0;
  double error = 0;
};

Fit FitOfClasses(const ml::TrainingSettings& s, const Eigen::RowVectorXd& logits, int label) {
  const double largest = logits.maxCoeff();
  const Eigen::RowVectorXd exponentials = (logits.array() - largest).exp();
  Fit fit;
  double squares = 0;
  for (Eigen::Index k = 0; k < logits.size(); ++k) {
    const double target = logits.size() == 1 ? label : label == k ? 1 : 0;
    const double z = logits(k);
    double error = 1 / (1 + std::exp(-z)) - target;
    if (s.loss == ml::Loss::kSquared) {
      error = z + (logits.size() == 1 ? 0.5 : 0) - target;
      fit.loss += error * error / 2;
    } else if (s.loss == ml::Loss::kSoftmax && logits.size() > 1) {
      error = exponentials(k) / exponentials.sum() - target;
      if (target == 1) fit.loss = largest + std::log(exponentials.sum()) - z;
    } else {
      fit.loss += LogOfOnePlusExp(target == 1 ? -z : z);
    }
    squares += error * error;
  }
  fit.error = std::sqrt(squares);
  return fit;
}

Fit FitOfTarget(const ml::TrainingSettings& s, double logit, int steps) {
  const double target = std::ldexp(steps, -ml::kTargetBits);
  const double error = ml::ShareAt(s.loss, logit) - target;
  if (s.loss == ml::Loss::kPoisson) {  // beyond the largest target the share stays, and the loss is linear
    const double x = logit - ml::kPoissonOffset;
    return {.loss = std::exp(std::min(x, 0.0)) + std::max(x, 0.0) - target * x, .error = std::abs(error)};
  }
  const double cut =
      s.loss == ml::Loss::kHuber ? std::min(std::abs(error), s.huber_threshold) : std::abs(error);
  return {.loss = cut * (std::abs(error) - cut / 2), .error = cut};
}

Fit FitOf(const ml::TrainingSettings& s, const Eigen::RowVectorXd& logits, int label) {
  return s.targets ? FitOfTarget(s, logits(0), label) : FitOfClasses(s, logits, label);
}

/// What is found of all records.
struct Found {
  double loss = 0;           ///< weighted sum
  double loss_of_zeros = 0;  ///< of a model of zeros
  std::int64_t shortened = 0;
  double longest = 0;  ///< gradient
};

Found Examine(const ml::TrainingSettings& s, const ml::Model& model, const ml::OwnRecords& own,
              const std::vector<double>& class_weights) {
  Found found;
  const Eigen::RowVectorXd zeros = Eigen::RowVectorXd::Zero(s.classes == 2 ? 1 : s.classes);
  for (std::int64_t row = 0; row < own.rows(); ++row) {
    const auto at = static_cast<std::size_t>(row);
    const int label = own.y[at];
    const Eigen::RowVectorXd x = own.x.row(row).cast<double>();
    const Eigen::RowVectorXd logits = Logits(model, x);
    double weight = own.weights.empty() ? 1 : own.weights[at];
    if (!class_weights.empty()) weight *= class_weights.at(static_cast<std::size_t>(label));
    const Fit fit = FitOf(s, logits, label);
    found.loss += weight * fit.loss;
    found.loss_of_zeros += weight * FitOf(s, zeros, label).loss;
    const double gradient = std::hypot(x.norm(), 1.0) * weight * fit.error;
    found.longest = std::max(found.longest, gradient);
    if (gradient > s.clip) ++found.shortened;
  }
  return found;
}

using Lines = std::vector<std::string>;

void AddClip(double clip, std::int64_t rows, const Found& found, OwnerLines& lines) {
  if (10 * found.shortened >= 9 * rows) {
    lines.warnings.push_back(fmt::format(
        "with the released model privacy.clip, {}, shortens the gradients of {} of {} rows: they count "
        "alike, "
        "whatever their error; a job with a larger clip would tell that rows here do not fit the model",
        clip, found.shortened, rows));
  } else if (2 * found.longest < clip) {
    lines.warnings.push_back(fmt::format(
        "with the released model no row has a gradient longer than {:.2g}, and the noise is that of "
        "privacy.clip, {}; a job with a smaller clip would tell that all rows here fit the model",
        found.longest, clip));
  } else {
    lines.notes.push_back(
        fmt::format("with the released model privacy.clip, {}, shortens the gradients of {} of {} rows; a "
                    "job with another clip "
                    "would tell about how many rows here do not fit the model",
                    clip, found.shortened, rows));
  }
}

void AddLoss(std::int64_t rows, const Found& found, Lines& lines) {
  if (rows < kMinRecords || found.loss_of_zeros <= 0) return;  // nothing that a step could lower
  if (found.loss < (1 - kMoved) * found.loss_of_zeros) return;
  const bool worse = found.loss > found.loss_of_zeros;
  const auto count = static_cast<double>(rows);
  lines.push_back(
      fmt::format("the released model has a loss a row of {:.4g} on the rows here, {} the {:.4g} of a model "
                  "of zeros: {}; a "
                  "job with other settings would tell that the rows here are not like what it learned",
                  found.loss / count, worse ? "above" : "hardly below", found.loss_of_zeros / count,
                  worse ? "training.learning_rate may be too large, or the noise drowns the rest"
                        : "training.learning_rate and training.steps may be too small"));
}

}  // namespace

OwnerLines ModelWarnings(const DpsgdSettings& job, const ml::Model& model, const ml::OwnRecords& own,
                         const std::vector<double>& class_weights, double threshold) {
  if (job.data.vertical || own.stored || own.rows() == 0) return {};
  const auto settings = SettingsOf(job);
  const auto found = Examine(settings, model, own, class_weights);
  OwnerLines lines;
  const bool clips =
      settings.clipping != ml::Clipping::kExamples && settings.hidden.empty() && !settings.adaptive;
  if (clips) AddClip(settings.clip, own.rows(), found, lines);
  const double decision = settings.targets ? 0 : ml::LogitAt(settings.loss, threshold);
  for (auto& line : OneClassWarning(job, model, {&own, 1}, kWeighClasses, decision))
    lines.warnings.push_back(std::move(line));
  AddLoss(own.rows(), found, lines.warnings);
  return lines;
}

}  // namespace trefoil::jobs
