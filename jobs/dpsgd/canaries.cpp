#include "jobs/dpsgd/canaries.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/error.h"
#include "base/outward_text.h"
#include "data/dataset/folders.h"
#include "data/dealing/split.h"
#include "data/features/feature_files.h"
#include "jobs/dpsgd/job.h"
#include "jobs/dpsgd/split_data.h"
#include "jobs/evaluation/classify.h"
#include "jobs/records/load_records.h"

namespace trefoil::jobs {
namespace {

namespace fs = std::filesystem;

bool OneColumn(const DpsgdSettings& job) { return job.data.classes == 2; }

/// Of each column of the model: 1 for a record's class, 0 for others; with one column the class itself.
double TargetOf(const DpsgdSettings& job, int label, Eigen::Index column) {
  return OneColumn(job) ? label : label == column ? 1 : 0;
}

/// What a model of zero weights predicts in each column.
double FirstPrediction(const DpsgdSettings& job) {
  if (job.model.loss == ml::Loss::kSquared && !OneColumn(job)) return 0;
  return job.model.loss == ml::Loss::kSoftmax && !OneColumn(job) ? 1.0 / job.data.classes : 0.5;
}

/// log(1 + e^z), also where e^z is no number.
double SoftPlus(double z) { return std::max(z, 0.0) + std::log1p(std::exp(-std::abs(z))); }

double LossAt(const DpsgdSettings& job, const Eigen::RowVectorXd& logits, int label) {
  if (job.model.loss == ml::Loss::kSoftmax && !OneColumn(job)) {
    const double largest = logits.maxCoeff();
    return largest + std::log((logits.array() - largest).exp().sum()) - logits(label);
  }
  double loss = 0;
  for (Eigen::Index k = 0; k < logits.size(); ++k) {
    const double target = TargetOf(job, label, k);
    const double z = logits(k);
    const double error = z + (OneColumn(job) ? 0.5 : 0) - target;  // of the squared loss
    loss += job.model.loss == ml::Loss::kSquared ? error * error : SoftPlus(target == 1 ? -z : z);
  }
  return loss;
}

/// Row norm as a float, not above it.
float CanaryValue(const DpsgdSettings& job) {
  const auto value = static_cast<float>(job.features.row_norm);
  return static_cast<double>(value) > job.features.row_norm
             ? std::nextafter(value, -std::numeric_limits<float>::infinity())
             : value;
}

/// A table with `columns` columns, the first of which are `table`'s at `rows`.
data::Table Extended(const data::Table& table, const std::vector<std::size_t>& rows, Eigen::Index columns,
                     std::size_t further_rows) {
  data::Table out{.x = data::Matrix::Zero(static_cast<Eigen::Index>(rows.size() + further_rows), columns),
                  .y = {}};
  for (std::size_t k = 0; k < rows.size(); ++k) {
    out.x.row(static_cast<Eigen::Index>(k)).head(table.x.cols()) =
        table.x.row(static_cast<Eigen::Index>(rows[k]));
    out.y.push_back(table.y[rows[k]]);
  }
  return out;
}

void Write(const data::Table& table, const fs::path& file) {
  fs::create_directories(file.parent_path());
  data::WriteFeatures(file, table.x, {table.y.begin(), table.y.end()});
}

std::vector<std::size_t> RowsOf(const CanaryData& data, int party) {
  std::vector<std::size_t> rows;
  for (std::size_t row = 0; row < data.party.size(); ++row) {
    if (data.party[row] == party) rows.push_back(row);
  }
  return rows;
}

class TrainingWithCanaries : public JobWithCanaries {
 public:
  TrainingWithCanaries(DpsgdSettings job, std::int64_t count)
      : job_(std::move(job)), count_(count), extended_(MakeDpsgdJob(WithCanaries(job_, count))) {}

  [[nodiscard]] const Job& job() const override { return *extended_; }
  [[nodiscard]] std::string Split(const SplitTarget& target) override;
  [[nodiscard]] CanaryFindings Examine(const ml::Model& model) const override;

 private:
  DpsgdSettings job_;
  std::int64_t count_;
  std::unique_ptr<Job> extended_;
  CanaryData data_{};  ///< after Split
};

std::string TrainingWithCanaries::Split(const SplitTarget& target) {
  const auto source = FindDataFolder(job_, target.job_file, target.data, target.run_folder);
  data_ = LoadForAudit(job_, source);
  if (source.parent_path() == target.run_folder) fs::remove_all(source);  // generated, and read
  auto coins = RandomStream::FromSystem();
  data_.canaries = DrawCanaries(job_, count_, coins);
  DealWithCanaries(job_, data_, target.party_folders, target.test);
  for (auto& party : target.parties) party.data = data::PartyFiles(data::Format::kNpz, "");
  return fmt::format("{} canaries beside {} records, at three parties", count_, data_.training.y.size());
}

CanaryFindings TrainingWithCanaries::Examine(const ml::Model& model) const {
  CanaryFindings found{.canaries = data_.canaries,
                       .scores = CanaryScores(job_, data_.canaries, model),
                       .losses = CanaryLosses(job_, data_.canaries, model),
                       .losses_of_tests = RecordLosses(job_, data_.test, model)};
  const auto losses = RecordLosses(job_, data_.training, model);
  for (std::size_t row = 0; row < losses.size(); ++row) {
    if (data_.party[row] >= 0) found.losses_of_rows.push_back(losses[row]);
  }
  return found;
}

}  // namespace

std::unique_ptr<JobWithCanaries> MakeJobWithCanaries(const DpsgdSettings& job, std::int64_t count) {
  CheckAuditable(job, count);
  return std::make_unique<TrainingWithCanaries>(job, count);
}

void CheckAuditable(const DpsgdSettings& job, std::int64_t count) {
  if (!job.model.hidden.empty()) {
    throw ConfigError(
        "model.hidden: found hidden layers, expected none: a canary's contribution would not lie in "
        "weights of its own");
  }
  if (job.data.target)
    throw ConfigError("data.target: found one, expected classes for an audit, whose canaries have them");
  if (data::WeightColumn(job.data) != nullptr)
    throw ConfigError(
        "data.column: found one of kind \"weight\", expected none for an audit, whose canaries have no "
        "weights");
  if (job.privacy.groups())
    throw ConfigError(
        "privacy.unit: found \"group\", expected \"record\" for an audit, whose canaries are "
        "single records");
  if (job.store.on) throw ConfigError("data.source: found \"store\", expected \"files\" for an audit");
  if (job.data.vertical)
    throw ConfigError("data.partition: found \"vertical\", expected \"horizontal\" for an audit");
  if (job.initialisation) {
    const bool averages = job.initialisation->method == ml::InitialisationMethod::kAveraging;
    throw ConfigError(fmt::format("initialisation.method: found \"{}\", expected \"none\" for an audit",
                                  averages ? "averaging" : "accuracy"));
  }
  if (job.features.standardise.on)
    throw ConfigError(
        "features.standardise: found \"private\", expected \"none\" for an audit, whose canaries are drawn "
        "before any sum is opened");
  if (job.features.extraction.method == data::FeatureMethod::kOnnx) {
    throw ConfigError(
        "features.method: found \"onnx\", expected another for an audit; write the features to a file with "
        "`trefoil features` and audit a job on that");
  }
  if (2 * static_cast<double>(count) * job.privacy.delta >= 1) {
    throw ConfigError(
        fmt::format("privacy.delta: found {}, expected below {}, half of one over --canaries {}",
                    job.privacy.delta, DigitsBelow(0.5 / static_cast<double>(count), 6), count));
  }
}

DpsgdSettings WithCanaries(const DpsgdSettings& job, std::int64_t count) {
  DpsgdSettings extended = job;
  const auto total = [](const DpsgdSettings& of) {
    return static_cast<double>(std::accumulate(of.data.rows.begin(), of.data.rows.end(), std::int64_t{0}));
  };
  extended.data = {.name = job.data.name,
                   .format = data::Format::kNpz,
                   .rows = job.data.rows,
                   .features = TrainedFeatures(job) + count,
                   .classes = job.data.classes,
                   .columns = {},
                   .label = {}};
  for (std::int64_t k = 0; k < count; ++k) ++extended.data.rows.at(static_cast<std::size_t>(k % 3));
  extended.features.extraction = {};  // their rows are written as they are trained on
  extended.features.means.clear();
  const double growth = total(extended) / total(job);
  auto& training = extended.training;
  training.expected_batch = job.privacy.sampling == ml::Sampling::kFull
                                ? total(extended)
                                : std::min(total(extended), job.training.expected_batch * growth);
  training.learning_rate = job.training.learning_rate * growth;  // the step size divides by the batch
  training.max_batch_per_owner += (count + 2) / 3;
  extended.evaluation.reset();
  if (extended.release.to.empty()) extended.release = {};
  extended.local = {};
  return extended;
}

std::vector<Canary> DrawCanaries(const DpsgdSettings& job, std::int64_t count, RandomStream& coins) {
  std::vector<Canary> canaries;
  for (std::int64_t k = 0; k < count; ++k) {
    canaries.push_back({.party = static_cast<int>(k % 3),
                        .label = static_cast<int>(k / 3 % job.data.classes),
                        .included = coins.NextWord() >> 63 == 1});
  }
  return canaries;
}

CanaryData LoadForAudit(const DpsgdSettings& job, const fs::path& source) {
  CanaryData data{.training = LoadRecords(job, data::FindTrainingFiles(job.data, source)),
                  .party = {},
                  .test = {},
                  .canaries = {}};
  data.party = data::AssignRows(SplitOf(job.local), data.training.y, job.data.rows);
  if (const auto files = data::FindTestFiles(job.data, source)) data.test = LoadRecords(job, *files);
  return data;
}

void DealWithCanaries(const DpsgdSettings& job, const CanaryData& data,
                      const std::array<fs::path, 3>& parties, const fs::path& test) {
  const Eigen::Index features = data.training.x.cols();
  const Eigen::Index columns = features + static_cast<Eigen::Index>(data.canaries.size());
  for (int party = 0; party < 3; ++party) {
    const auto is_own = [&](const Canary& canary) { return canary.party == party && canary.included; };
    const auto included = std::count_if(data.canaries.begin(), data.canaries.end(), is_own);
    const auto rows = RowsOf(data, party);
    auto table = Extended(data.training, rows, columns, static_cast<std::size_t>(included));
    auto next = static_cast<Eigen::Index>(rows.size());
    for (std::size_t k = 0; k < data.canaries.size(); ++k) {
      if (!is_own(data.canaries[k])) continue;
      table.x(next++, features + static_cast<Eigen::Index>(k)) = CanaryValue(job);
      table.y.push_back(data.canaries[k].label);
    }
    Write(table, data::PartyFiles(data::Format::kNpz, parties.at(static_cast<std::size_t>(party))).file);
  }
  if (data.test.y.empty()) return;
  std::vector<std::size_t> all(data.test.y.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  Write(Extended(data.test, all, columns, 0), test / "test.npz");
}

std::vector<double> CanaryScores(const DpsgdSettings& job, const std::vector<Canary>& canaries,
                                 const ml::Model& model) {
  const Eigen::Index features = model.weights.rows() - static_cast<Eigen::Index>(canaries.size());
  std::vector<double> scores;
  for (std::size_t i = 0; i < canaries.size(); ++i) {
    double score = 0;
    for (Eigen::Index k = 0; k < model.weights.cols(); ++k)
      score += model.weights(features + static_cast<Eigen::Index>(i), k) *
               (TargetOf(job, canaries[i].label, k) - FirstPrediction(job));
    scores.push_back(score);
  }
  return scores;
}

std::vector<double> CanaryLosses(const DpsgdSettings& job, const std::vector<Canary>& canaries,
                                 const ml::Model& model) {
  const Eigen::Index features = model.weights.rows() - static_cast<Eigen::Index>(canaries.size());
  std::vector<double> losses;
  for (std::size_t i = 0; i < canaries.size(); ++i) {
    const Eigen::RowVectorXd logits =
        static_cast<double>(CanaryValue(job)) * model.weights.row(features + static_cast<Eigen::Index>(i)) +
        model.bias.transpose();
    losses.push_back(LossAt(job, logits, canaries[i].label));
  }
  return losses;
}

std::vector<double> RecordLosses(const DpsgdSettings& job, const data::Table& table, const ml::Model& model) {
  const ml::Model own{.weights = model.weights.topRows(table.x.cols()), .bias = model.bias};
  std::vector<double> losses;
  for (std::size_t row = 0; row < table.y.size(); ++row) {
    const auto logits = Logits(own, table.x.row(static_cast<Eigen::Index>(row)).cast<double>());
    losses.push_back(LossAt(job, logits, table.y[row]));
  }
  return losses;
}

}  // namespace trefoil::jobs
