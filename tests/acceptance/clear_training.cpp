// Runs a job's training in the clear, for the figures of docs/explanation/experiments.md that would need many
// secure runs, and the baselines that they are compared with. Prints CSV: step,accuracy (on the data's test
// files; of targets R²), step 0 the first weights. A simulation: nothing that it prints is private, and of
// the secure run it leaves out only what the tests bound (rounded clip factors and sigmoids, cut batches).
#include <cmath>
#include <cstdio>
#include <numeric>
#include <random>
#include <string>

#include "base/error.h"
#include "base/error_report.h"
#include "base/threads/thread_pool.h"
#include "data/dataset/folders.h"
#include "data/dealing/split.h"
#include "dp/accounting/any_accountant.h"
#include "dp/mechanisms/discrete_gaussian.h"
#include "jobs/dpsgd/settings/settings.h"
#include "jobs/dpsgd/settings/training_settings.h"
#include "jobs/dpsgd/split_data.h"
#include "jobs/evaluation/evaluation.h"
#include "jobs/evaluation/target_evaluation.h"
#include "jobs/gaussian_target.h"
#include "jobs/records/load_records.h"
#include "ml/clear/least_squares.h"
#include "ml/dpsgd/initialisation.h"
#include "ml/on_shares/correct_counts.h"
#include "ml/plan/step_privacy.h"
#include "ml/records.h"

#include <CLI/CLI.hpp>

namespace trefoil {
namespace {

struct Options {
  std::string job;
  std::string data;
  std::vector<std::string> assignments;
  std::string as = "joint";
  double random_weights = 0;
  std::vector<double> times_rate{1};
  std::vector<double> times_clip{1};
  int local_steps = 1;
  int every = 10;
  int runs = 1;
};

/// What every way of training needs.
struct Experiment {
  jobs::DpsgdSettings job;
  ml::TrainingSettings settings{};
  std::array<ml::OwnRecords, 3> owners{};
  data::Table test{};
  int every = 10;
};

ml::OwnRecords RowsOf(const data::Table& table, const std::vector<std::int64_t>& rows) {
  ml::OwnRecords some;
  some.x.resize(static_cast<Eigen::Index>(rows.size()), table.x.cols());
  for (std::size_t k = 0; k < rows.size(); ++k) {
    some.x.row(static_cast<Eigen::Index>(k)) = table.x.row(rows[k]);
    some.y.push_back(table.y[static_cast<std::size_t>(rows[k])]);
  }
  return some;
}

Experiment Read(const Options& options) {
  Experiment experiment{.job = jobs::ReadDpsgdSettings(options.job, options.assignments),
                        .every = options.every};
  const jobs::DpsgdSettings& job = experiment.job;
  if (job.data.vertical)
    throw ConfigError("data.partition: found \"vertical\", expected \"horizontal\" in the clear");
  if (job.privacy.groups())
    throw ConfigError("privacy.unit: found \"group\", expected \"record\" in the clear");
  experiment.settings = jobs::SettingsOf(job);
  const auto folder = jobs::FindDataFolder(job, options.job, options.data, ".");
  const auto test = data::FindTestFiles(job.data, folder);
  if (!test) throw DataError(folder.string() + ": holds no test files");
  experiment.test = jobs::LoadRecords(job, *test);
  const auto table = jobs::LoadRecords(job, data::FindTrainingFiles(job.data, folder));
  const auto party_of = data::AssignRows(jobs::SplitOf(job.local), table.y, job.data.rows);
  for (int owner = 0; owner < 3; ++owner) {
    std::vector<std::int64_t> rows;
    for (std::size_t k = 0; k < party_of.size(); ++k) {
      if (party_of[k] == owner) rows.push_back(static_cast<std::int64_t>(k));
    }
    experiment.owners[static_cast<std::size_t>(owner)] = RowsOf(table, rows);
  }
  return experiment;
}

ml::OwnRecords Together(const std::array<ml::OwnRecords, 3>& owners) {
  ml::OwnRecords all;
  all.x.resize(owners[0].x.rows() + owners[1].x.rows() + owners[2].x.rows(), owners[0].x.cols());
  Eigen::Index row = 0;
  for (const auto& own : owners) {
    all.x.middleRows(row, own.x.rows()) = own.x;
    row += own.x.rows();
    all.y.insert(all.y.end(), own.y.begin(), own.y.end());
  }
  return all;
}

/// On the test records, of targets R².
double ScoreOf(const Experiment& experiment, const ml::Model& model) {
  const auto schema = jobs::ModelSchemaOf(experiment.job);
  if (experiment.job.data.target)
    return jobs::EvaluateTargets(model, schema, experiment.test).r_squared.value_or(0);
  return jobs::Evaluate(model, schema, experiment.test).table.accuracy();
}

double ScoreOf(const Experiment& experiment, const Eigen::MatrixXd& weights) {
  const Eigen::Index features = weights.rows() - 1;
  return ScoreOf(experiment,
                 ml::Model{.weights = weights.topRows(features), .bias = weights.row(features).transpose()});
}

void Print(const Experiment& experiment, int step, const Eigen::MatrixXd& weights) {
  std::printf("%d,%.4f\n", step, ScoreOf(experiment, weights));
  std::fflush(stdout);
}

/// The job's steps on `own`, by one who sees it all: each row at `rate`, noise of multiplier `sigma` on sums
/// whose sensitivity is the clip.
class Trainer {
 public:
  Trainer(const Experiment& experiment, const ml::OwnRecords& own, double rate, double sigma)
      : settings_(experiment.settings), own_(own), rate_(rate) {
    const auto count = own.x.rows();
    settings_.rows = {count, count, count};
    plan_ = MakeLocalPlan(settings_, {.steps = settings_.steps,
                                      .expected_batch = rate * static_cast<double>(count),
                                      .learning_rate = settings_.learning_rate,
                                      .clip = settings_.clip,
                                      .sigma = sigma,
                                      .delta = settings_.delta});
    if (sigma > 0) noise_.emplace(ml::NoiseVariance(plan_.sigma, plan_.lattice_sensitivity, 0));
  }

  /// Moves the weights, which lie on the lattice behind it.
  void Step(Eigen::MatrixXd& weights, int step, ThreadPool& pool) {
    const auto count = own_.x.rows();
    const auto batch = ml::DrawRows(rows_, count, rate_, count);
    Eigen::MatrixXd sum = SumClippedGradients(plan_, OnLattice(weights), own_, batch, pool);
    if (noise_)
      sum = sum.unaryExpr([&](double g) { return g + static_cast<double>(noise_->Sample(coins_)); });
    const double learning_rate =
        settings_.learning_rate *
        std::ldexp(static_cast<double>(ml::RateAt(settings_.schedule, step, settings_.steps)), -30);
    if (velocity_.size() == 0) velocity_ = Eigen::MatrixXd::Zero(weights.rows(), weights.cols());
    velocity_ = settings_.momentum * velocity_ +
                learning_rate / (rate_ * static_cast<double>(count)) * Unit() * Unit() * sum;
    weights = OnLattice(weights - velocity_);
  }

 private:
  [[nodiscard]] double Unit() const { return std::ldexp(1.0, -plan_.lattice_bits()); }
  [[nodiscard]] Eigen::MatrixXd OnLattice(const Eigen::MatrixXd& weights) const {
    return (weights / Unit()).array().round() * Unit();
  }

  ml::TrainingSettings settings_;
  const ml::OwnRecords& own_;
  double rate_;
  ml::LocalPlan plan_;
  std::optional<dp::DiscreteGaussian> noise_{};
  RandomStream rows_ = RandomStream::FromSystem();
  RandomStream coins_ = RandomStream::FromSystem();
  Eigen::MatrixXd velocity_{};
};

Eigen::MatrixXd Average(const std::vector<Eigen::MatrixXd>& models) {
  Eigen::MatrixXd sum = models.at(0);
  for (std::size_t k = 1; k < models.size(); ++k) sum += models[k];
  return sum / static_cast<double>(models.size());
}

/// All trainers go on from the same weights for `local_steps` steps; then their average is everybody's.
void Train(const Experiment& experiment, std::vector<Trainer> trainers, int local_steps,
           const Eigen::MatrixXd& first, ThreadPool& pool) {
  const int steps = experiment.settings.steps;
  std::vector<Eigen::MatrixXd> weights(trainers.size(), first);
  Print(experiment, 0, first);
  for (int step = 0; step < steps; ++step) {
    for (std::size_t k = 0; k < trainers.size(); ++k) trainers[k].Step(weights[k], step, pool);
    const bool last = step + 1 == steps;
    if ((step + 1) % local_steps == 0 || last) weights.assign(trainers.size(), Average(weights));
    if ((step + 1) % experiment.every == 0 || last) Print(experiment, step + 1, Average(weights));
  }
}

/// The models of [initialisation], each party's own.
std::vector<Eigen::MatrixXd> LocalModels(const Experiment& experiment, ThreadPool& pool) {
  if (!experiment.settings.initialisation)
    throw ConfigError("initialisation.method: found \"none\", expected \"averaging\" or \"accuracy\"");
  const auto plan = MakeInitialisationPlan(experiment.settings);
  std::vector<Eigen::MatrixXd> models;
  for (std::size_t owner = 0; owner < 3; ++owner)
    models.push_back(TrainLocally(plan.local, static_cast<int>(owner), experiment.owners[owner], pool));
  return models;
}

/// On the lattice that trainings in the clear keep weights on.
Eigen::MatrixXd RandomWeights(Eigen::Index rows, Eigen::Index columns, double deviation) {
  std::random_device device;
  std::mt19937_64 generator(device());
  std::normal_distribution<double> normal(0, deviation);
  return Eigen::MatrixXd::NullaryExpr(rows, columns,
                                      [&] { return std::round(normal(generator) * 256) / 256; });
}

Eigen::MatrixXd FirstWeights(const Experiment& experiment, double random_weights, ThreadPool& pool) {
  const auto& settings = experiment.settings;
  if (settings.initialisation && settings.initialisation->method != ml::InitialisationMethod::kAveraging)
    throw ConfigError("initialisation.method: found \"accuracy\", expected \"averaging\" in the clear");
  if (settings.initialisation) return Average(LocalModels(experiment, pool));
  const Eigen::Index columns = settings.classes == 2 ? 1 : settings.classes;
  if (random_weights == 0) return Eigen::MatrixXd::Zero(settings.features + 1, columns);
  return RandomWeights(settings.features + 1, columns, random_weights);
}

void PrintLocalModels(const Experiment& experiment, int runs, ThreadPool& pool) {
  std::puts("party,accuracy");
  for (int run = 0; run < runs; ++run) {
    const auto models = LocalModels(experiment, pool);
    for (std::size_t owner = 0; owner < 3; ++owner)
      std::printf("%zu,%.4f\n", owner, ScoreOf(experiment, models[owner]));
    std::printf("average,%.4f\n", ScoreOf(experiment, Average(models)));
    std::fflush(stdout);
  }
}

/// The record as its owner would publish it under local differential privacy of the job's epsilon and delta,
/// any record against any other: the row, whose norm is at most R, by the Gaussian mechanism (sensitivity 2
/// R) with half of epsilon, and the label by k-ary randomised response with the other half.
ml::OwnRecords Perturbed(const Experiment& experiment, ml::OwnRecords own) {
  const auto& settings = experiment.settings;
  const double half = settings.target_epsilon / 2;
  const double deviation = 2 * settings.row_norm * dp::CalibrateNoiseMultiplier(half, settings.delta, 1, 1);
  std::random_device device;
  std::mt19937_64 generator(device());
  std::normal_distribution<float> normal(0, static_cast<float>(deviation));
  const double others = settings.classes - 1;
  std::bernoulli_distribution truthful(std::exp(half) / (std::exp(half) + others));
  std::uniform_int_distribution<int> other(1, settings.classes - 1);
  own.x = own.x.unaryExpr([&](float value) { return value + normal(generator); });
  for (int& label : own.y) {
    if (!truthful(generator)) label = (label + other(generator)) % settings.classes;
  }
  return own;
}

/// Least squares (jobs of that type) of the same records at the same epsilon: the noise of all three parties,
/// one line each run.
void SolveSquares(const Experiment& experiment, int runs, ThreadPool& pool) {
  const auto& settings = experiment.settings;
  const auto all = Together(experiment.owners);
  const ml::SquaresShape shape{.features = settings.features,
                               .outputs = settings.classes == 2 ? 1 : settings.classes};
  const auto sensitivity = ml::SquaresSensitivity(shape.unit);
  const double sigma = jobs::SigmaOf({.coordinates = shape.numbers(),
                                      .sensitivity = sensitivity,
                                      .epsilon = settings.target_epsilon,
                                      .delta = settings.delta,
                                      .insiders = false});
  const dp::DiscreteGaussian noise(ml::CountVariance(sigma, sensitivity));
  const double deviation = dp::kAllOverTwo * sigma * static_cast<double>(sensitivity);
  const auto targets =
      experiment.job.data.target ? ml::RangeTargets(all.y) : ml::ClassTargets(all.y, settings.classes);
  const mpc::RingMatrix sum = SumOfSquares(shape, all.x, settings.row_norm, targets, pool);
  auto coins = RandomStream::FromSystem();
  std::puts("run,accuracy");
  for (int run = 1; run <= runs; ++run) {
    const mpc::RingMatrix noisy = sum.unaryExpr([&](mpc::Word word) {
      for (int party = 0; party < 3; ++party) word += static_cast<mpc::Word>(noise.Sample(coins));
      return word;
    });
    const auto model =
        ml::SolveSquares(shape, noisy, settings.row_norm, deviation, Eigen::VectorXd::Zero(shape.features));
    std::printf("%d,%.4f\n", run, ScoreOf(experiment, model));
    std::fflush(stdout);
  }
}

/// Rows that are trained on together, and the noise multiplier of their sums.
struct Part {
  ml::OwnRecords own;
  double sigma = 0;
};

/// Of `as` from joint to local-dp.
std::vector<Part> PartsOf(const Experiment& experiment, const std::string& as) {
  const auto& settings = experiment.settings;
  // All three parties add their noise, of variance sigma^2 / 2 each.
  if (as == "joint") return {{Together(experiment.owners), ml::MakePlan(settings).sigma * std::sqrt(1.5)}};
  if (as == "local-dp") return {{Perturbed(experiment, Together(experiment.owners)), 0}};
  const double sigma =
      dp::CalibrateNoiseMultiplier(settings.target_epsilon, settings.delta, ml::SamplingRate(settings),
                                   settings.steps, settings.accountant);
  const std::size_t owners = as == "federated" ? 3 : 1;
  std::vector<Part> parts;
  for (std::size_t k = 0; k < owners; ++k) parts.push_back({experiment.owners.at(k), sigma});
  return parts;
}

/// All runs at one learning rate and clip.
void TrainAt(const Experiment& experiment, const Options& options, ThreadPool& pool) {
  const double rate = ml::SamplingRate(experiment.settings);
  for (int run = 0; run < options.runs; ++run) {
    // Anew in each run, as what perturbs records and what local models and random weights are made of.
    const Eigen::MatrixXd first = FirstWeights(experiment, options.random_weights, pool);
    const std::vector<Part> parts = PartsOf(experiment, options.as);
    std::vector<Trainer> trainers;
    for (const auto& part : parts) trainers.emplace_back(experiment, part.own, rate, part.sigma);
    Train(experiment, std::move(trainers), options.local_steps, first, pool);
  }
}

void Run(const Options& options) {
  Experiment experiment = Read(options);
  ThreadPool pool(ThreadsFor(0));
  if (options.as == "local") return PrintLocalModels(experiment, options.runs, pool);
  if (options.as == "least-squares") return SolveSquares(experiment, options.runs, pool);
  std::puts("step,accuracy");
  for (const double times_rate : options.times_rate) {
    for (const double times_clip : options.times_clip) {
      experiment.settings.learning_rate = times_rate * experiment.job.training.learning_rate;
      experiment.settings.clip = times_clip * experiment.job.privacy.clip;
      TrainAt(experiment, options, pool);
    }
  }
}

}  // namespace
}  // namespace trefoil

int main(int argc, char** argv) {  // NOLINT(bugprone-exception-escape): what escapes ends it, as it should
  trefoil::Options options;
  CLI::App program("A job's training in the clear: a simulation, for experiments");
  program.add_option("--job", options.job, "The job file, with a linear model and an epsilon")->required();
  program.add_option("--data", options.data, "Folder of the data, as for trefoil local");
  program.add_option("--set", options.assignments, "Change a key of the job")->allow_extra_args(false);
  program
      .add_option(
          "--as", options.as,
          "joint: of all rows, at the outsider's noise; single-party: of party 0's, at the same rate and "
          "epsilon; federated: of each party's likewise, their models averaged; local-dp: of all rows, "
          "perturbed one by one; local: the models of [initialisation]; least-squares: of all rows, by a job "
          "of that type against an outsider")
      ->check(CLI::IsMember({"joint", "single-party", "federated", "local-dp", "local", "least-squares"}));
  program
      .add_option(
          "--times-rate", options.times_rate,
          "So many times the job's learning rate, which may be by rule (\"auto\"); of several each with "
          "each of --times-clip, in order, --runs times")
      ->check(CLI::PositiveNumber);
  program.add_option("--times-clip", options.times_clip, "The same of the job's clip")
      ->check(CLI::PositiveNumber);
  program.add_option("--local-steps", options.local_steps, "Steps between two averages of federated models")
      ->check(CLI::PositiveNumber);
  program
      .add_option("--random-weights", options.random_weights, "Start from normal weights of this deviation")
      ->check(CLI::NonNegativeNumber);
  program.add_option("--every", options.every, "Steps between two lines")->check(CLI::PositiveNumber);
  program.add_option("--runs", options.runs, "So many, one after the other, each with everything drawn anew")
      ->check(CLI::PositiveNumber);
  CLI11_PARSE(program, argc, argv);
  try {
    trefoil::Run(options);
    return trefoil::kDone;
  } catch (const std::exception& error) {
    trefoil::ReportError(error.what());
    return trefoil::ExitCodeOf(error);
  }
}
