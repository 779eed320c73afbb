#include "bench/random_job.h"

#include "base/error.h"
#include "base/random.h"

namespace trefoil::bench {
namespace {

constexpr std::int64_t kHiddenSize = 32;

}  // namespace

ml::TrainingSettings SettingsFor(const ProductShape& shape, const StepKind& kind) {
  if (shape.cols == 2)
    throw ConfigError("--shape: found 2 classes, expected 1 (two classes, one output) or 3 and more");
  ml::TrainingSettings settings;
  settings.rows = {shape.rows, 0, 0};
  settings.features = shape.inner;
  settings.classes = shape.cols == 1 ? 2 : static_cast<int>(shape.cols);
  settings.steps = 1;
  settings.expected_batch = static_cast<double>(shape.rows);
  settings.max_batch_per_owner = shape.rows;
  settings.learning_rate = 1;
  settings.clip = 0.5;
  settings.sigma = kJobSigma;
  settings.delta = 1e-5;
  settings.loss = kind.loss;
  settings.clipping = kind.clipping;
  settings.truncation = kind.truncation;
  if (kind.hidden) settings.hidden = {kHiddenSize};
  return settings;
}

ml::OwnRecords RandomRecords(const ml::TrainingSettings& settings, mpc::Index rows) {
  RandomStream stream = RandomStream::FromSystem();
  ml::OwnRecords records;
  records.x.resize(rows, settings.features);
  for (mpc::Index k = 0; k < records.x.size(); ++k) {
    records.x.data()[k] = static_cast<float>(stream.NextWord() >> 40) / static_cast<float>(1 << 24);
  }
  for (mpc::Index row = 0; row < rows; ++row) {
    records.y.push_back(static_cast<int>(stream.NextWord() % static_cast<std::uint64_t>(settings.classes)));
  }
  return records;
}

}  // namespace trefoil::bench
