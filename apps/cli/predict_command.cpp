#include <iostream>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "apps/cli/command.h"
#include "apps/cli/standard_input.h"
#include "base/error.h"
#include "base/error_report.h"
#include "base/files/files.h"
#include "base/files/output_file.h"
#include "jobs/config/named_files.h"
#include "jobs/evaluation/classify.h"
#include "jobs/evaluation/predictions.h"
#include "jobs/files/model_file.h"
#include "jobs/records/load_records.h"
#include "ml/scores/probabilities.h"

namespace trefoil::apps {
namespace {

struct PredictOptions {
  std::string model;
  std::vector<std::string> data;
  std::string query;
  std::string feature_model;
  std::string out;
  std::optional<double> threshold;
  bool scores = false;
  bool probabilities = false;
  jobs::JobTypes types;
};

std::string PredictionsOf(const jobs::ModelFile& model, const data::Matrix& x,
                          const PredictOptions& options) {
  const auto columns = model.model.weights.cols();
  const double decision = ml::DecisionLogit(model.schema.classifier);
  std::vector<int> classes;
  Eigen::MatrixXd scores(x.rows(), columns);
  Eigen::MatrixXd probabilities(options.probabilities ? x.rows() : 0, columns);
  for (Eigen::Index row = 0; row < x.rows(); ++row) {
    const auto logits = jobs::Logits(model.model, x.row(row).cast<double>());
    classes.push_back(jobs::ClassOf(logits, decision));
    scores.row(row) = logits;
    if (!options.probabilities) continue;
    probabilities.row(row) =
        ml::LogProbabilities(model.schema.classifier.loss, logits).tail(columns).array().exp();
  }
  std::vector<jobs::PredictionColumns> shown;
  if (options.scores) shown.push_back({.name = "score", .values = std::move(scores)});
  if (options.probabilities) shown.push_back({.name = "probability", .values = std::move(probabilities)});
  return jobs::PredictionsCsv(model.schema.records, classes, shown);
}

std::string TargetsOf(const jobs::ModelFile& model, const data::Matrix& x) {
  std::vector<double> targets;
  for (Eigen::Index row = 0; row < x.rows(); ++row) {
    const auto logits = jobs::Logits(model.model, x.row(row).cast<double>());
    targets.push_back(jobs::TargetOf(model.schema, logits));
  }
  return jobs::TargetsCsv(targets);
}

int RunPredict(const PredictOptions& options) {
  auto model = jobs::LoadModel(options.model, options.types);
  if (options.threshold) jobs::SetThreshold(model.schema, *options.threshold, "--threshold");
  const bool targets = model.schema.records.data.target.has_value();
  if (targets && (options.scores || options.probabilities)) {
    throw ConfigError(std::string(options.scores ? "--scores" : "--probabilities") + ": found " +
                      options.model + ", which predicts a number, expected a model of classes");
  }
  if (options.probabilities && !model.schema.probabilities)
    throw ConfigError(
        "--probabilities: found " + options.model +
        ", whose logits mean none, expected the model of a training by one-vs-rest or softmax; --scores "
        "prints the logits");
  constexpr auto kLabels = data::LabelUse::kIgnored;
  const auto files =
      jobs::NamedTestData(WithStandardInput(options.data), model.schema.records.data, kLabels, options.query);
  auto inputs = files.table();
  inputs.insert(inputs.end(), {files.x, files.y, options.model, options.feature_model});
  CheckOutputFile("--out", options.out, inputs);
  const auto table = jobs::LoadRecords(model.schema.records, files,
                                       {.labels = kLabels, .feature_model = options.feature_model});
  const auto text = targets ? TargetsOf(model, table.x) : PredictionsOf(model, table.x, options);
  if (!options.out.empty()) {
    WriteTextFile(options.out, text);
  } else {
    std::cout << text;
  }
  return kDone;
}

}  // namespace

void AddPredict(CLI::App& program, Action& action, jobs::JobTypes types) {
  auto options = std::make_shared<PredictOptions>();
  options->types = types;
  auto* command = program.add_subcommand(
      "predict",
      "What a released model says of records, as CSV: row, label (or target); nothing leaves this machine");
  command->add_option("--model", options->model, "The model, model.npz")->required();
  command
      ->add_option("--data", options->data,
                   "A folder with test files, or the files: features, or those of one table, or a folder of "
                   "images; - for one file on standard input; labels are not looked at")
      ->required();
  command->add_option(
      "--query", options->query,
      "With one SQLite database, or postgres:DATABASE, as --data: the SELECT that gives the table");
  command->add_option("--feature-model", options->feature_model,
                      "The ONNX model that features come from, where the job's method is onnx");
  command->add_option("--threshold", options->threshold,
                      "Two classes: in place of the job's model.threshold");
  command->add_option("--out", options->out, "The CSV file; without it standard output");
  command->add_flag("--scores", options->scores, "Also the logits: one a class, with two classes class 1's");
  command->add_flag(
      "--probabilities", options->probabilities,
      "Also the probabilities: one a class, with two classes class 1's; not of the squared loss");
  command->callback([options, &action] { action = [options] { return RunPredict(*options); }; });
}

}  // namespace trefoil::apps
