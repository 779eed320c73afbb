#pragma once
#include <algorithm>
#include <cmath>
#include <random>
#include <utility>
#include <vector>

#include "ml/dpsgd/dp_sgd.h"
#include "ml/dpsgd/training.h"
#include "ml/records.h"
#include "tests/support/packed.h"
#include "tests/support/protocol_test.h"

namespace trefoil::testing_support {

/// A small three-class training that every test starts from.
inline ml::TrainingSettings SmallSettings() {
  ml::TrainingSettings settings;
  settings.rows = {40, 40, 40};
  settings.features = 6;
  settings.classes = 3;
  settings.steps = 10;
  settings.expected_batch = 30;
  settings.max_batch_per_owner = 40;
  settings.learning_rate = 4;
  settings.clip = 0.5;
  settings.sigma = 0;
  settings.delta = 1e-5;
  settings.logit_bound = 16;
  // Not by what the machine's links happen to take: two runs must be alike.
  settings.comparison = protocols::Form::kBulk;
  return settings;
}

/// The same of targets in place of classes, by Huber's loss.
inline ml::TrainingSettings SmallHuberSettings(double threshold) {
  ml::TrainingSettings settings = SmallSettings();
  settings.classes = 2;
  settings.targets = true;
  settings.loss = ml::Loss::kHuber;
  settings.huber_threshold = threshold;
  settings.learning_rate = 1;  // its slopes do not level off
  return settings;
}

/// The same by Poisson's loss.
inline ml::TrainingSettings SmallPoissonSettings() {
  ml::TrainingSettings settings = SmallHuberSettings(1);
  settings.loss = ml::Loss::kPoisson;
  settings.huber_threshold = 0;
  return settings;
}

/// MNIST's raw pixels as configs/mnist.toml has them, with other rates.
inline ml::TrainingSettings MnistSettings() {
  ml::TrainingSettings settings;
  settings.rows = {20000, 20000, 20000};
  settings.features = 784;
  settings.classes = 10;
  settings.steps = 439;
  settings.expected_batch = 2048;
  settings.max_batch_per_owner = 900;
  settings.learning_rate = 90;
  settings.clip = 0.5;
  settings.target_epsilon = 3;
  settings.delta = 1e-5;
  settings.against = ml::Adversary::kOutsider;
  return settings;
}

/// Records whose class, or target, shows in their features, from a fixed seed; some rows longer than 1.
inline ml::OwnRecords MakeRecords(const ml::TrainingSettings& settings, std::uint64_t seed,
                                  mpc::Index count) {
  std::mt19937_64 generator(seed);
  std::normal_distribution<float> normal;
  ml::OwnRecords records;
  records.x.resize(count, settings.features);
  for (mpc::Index row = 0; row < count; ++row) {
    const int label = static_cast<int>(generator() % static_cast<std::uint64_t>(settings.classes));
    records.y.push_back(label);
    if (settings.targets)  // 0 to 0.18, or 0.77 to 0.95
      records.y.back() = 13'000'000 * label + static_cast<int>(generator() % 3'000'000);
    for (mpc::Index col = 0; col < settings.features; ++col) records.x(row, col) = 0.3F * normal(generator);
    records.x(row, label % settings.features) += 0.6F;
    if (settings.max_record_weight)  // none, the largest, and between
      records.weights.push_back(*settings.max_record_weight *
                                std::min(static_cast<double>(row % 7) / 5, 1.0));
  }
  return records;
}

inline std::vector<std::int64_t> AllRows(const ml::OwnRecords& records) {
  std::vector<std::int64_t> rows(static_cast<std::size_t>(records.x.rows()));
  for (std::size_t k = 0; k < rows.size(); ++k) rows[k] = static_cast<std::int64_t>(k);
  return rows;
}

/// The rows as the training sees them: scaled down to the norm bound.
inline Eigen::MatrixXd ScaledRows(const ml::TrainingSettings& settings, const ml::OwnRecords& records) {
  Eigen::MatrixXd x = records.x.cast<double>();
  for (mpc::Index row = 0; row < x.rows(); ++row) {
    const double norm = x.row(row).norm();
    if (norm > settings.row_norm) x.row(row) *= settings.row_norm / norm;
  }
  return x;
}

/// For a training whose reports nobody reads.
inline const ml::TrainingHooks kQuiet{.on_step = [](const ml::StepReport&) {},
                                      .on_record = [](const dp::TrainingRecord&) {}};

/// One column a class, or the class itself for two; or the target, from 0 to 1.
inline Eigen::MatrixXd Targets(const ml::TrainingSettings& settings, const std::vector<int>& labels) {
  const mpc::Index columns = settings.classes == 2 ? 1 : settings.classes;
  Eigen::MatrixXd targets = Eigen::MatrixXd::Zero(static_cast<mpc::Index>(labels.size()), columns);
  for (std::size_t k = 0; k < labels.size(); ++k) {
    if (columns == 1) {
      targets(static_cast<mpc::Index>(k), 0) =
          settings.targets ? std::ldexp(labels[k], -ml::kTargetBits) : labels[k];
    } else {
      targets(static_cast<mpc::Index>(k), labels[k]) = 1;
    }
  }
  return targets;
}

/// The batch of all `records`, padded to `height` rows, dealt without communication.
inline ml::Batch DealBatch(mpc::Context& party, const ml::StepPlan& plan, const ml::OwnRecords& records,
                           std::int64_t height) {
  return ToBatch(plan, InsecureDeal(party, EncodeRecords(plan, records, AllRows(records), height)));
}

/// A batch of whose rows no more is known than modulo 2^bits, and no more is held.
inline ml::Batch KnownModulo(ml::Batch batch, int bits) {
  batch.narrow_x = Packed(std::exchange(batch.x, {}).ring(), bits);
  return batch;
}

/// The batch as a step has it: of narrow rows no more is known than the plan's bits.
inline ml::Batch InItsBits(const ml::StepPlan& plan, ml::Batch batch) {
  return HasNarrowRows(plan) ? KnownModulo(std::move(batch), plan.row_bits) : batch;
}

/// DealBatch, as a step has it.
inline ml::Batch DealStepBatch(mpc::Context& party, const ml::StepPlan& plan, const ml::OwnRecords& records,
                               std::int64_t height) {
  return InItsBits(plan, DealBatch(party, plan, records, height));
}

/// A party's part of no noise, for one step.
inline mpc::RingMatrix NoNoise(const ml::StepPlan& plan) {
  const ml::LayerShape shape = ShapeOfWeights(plan);
  return mpc::RingMatrix::Zero(shape.inputs, shape.outputs);
}

/// A training that begins with these weights.
inline ml::TrainingState DealStart(mpc::Context& party, const ml::StepPlan& plan,
                                   const mpc::RingMatrix& weights) {
  return ml::StartFrom({InsecureDeal(party, weights), plan.settings.fraction_bits});
}

}  // namespace trefoil::testing_support
