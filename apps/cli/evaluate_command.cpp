#include <spdlog/fmt/fmt.h>

#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/cli/command.h"
#include "apps/cli/standard_input.h"
#include "apps/report/evaluation_file.h"
#include "base/error.h"
#include "base/error_report.h"
#include "base/files/files.h"
#include "base/files/output_file.h"
#include "jobs/config/named_files.h"
#include "jobs/evaluation/classify.h"
#include "jobs/evaluation/evaluation.h"
#include "jobs/evaluation/target_evaluation.h"
#include "jobs/files/model_file.h"
#include "jobs/records/load_records.h"
#include "jobs/statement/bound_text.h"

namespace trefoil::apps {
namespace {

struct EvaluateOptions {
  std::string model;
  std::vector<std::string> data;
  std::string query;
  std::string feature_model;
  std::string out;
  std::optional<double> threshold;
  bool json = false;
  jobs::JobTypes types;
};

/// More classes make a table that no terminal is wide enough for; JSON has it.
constexpr int kMaxShown = 12;

std::string ShareText(const std::optional<double>& share) { return share ? jobs::AccuracyText(*share) : "-"; }

std::string FiguresText(const jobs::Evaluation& evaluation) {
  const auto& table = evaluation.table;
  auto text = fmt::format("accuracy {} ({} of {} records)\n", jobs::AccuracyText(table.accuracy()),
                          table.correct(), table.records());
  if (evaluation.threshold != 0.5) text += fmt::format("threshold {}\n", evaluation.threshold);
  text += fmt::format("balanced accuracy {}\n", jobs::AccuracyText(table.balanced_accuracy()));
  if (const auto auc = evaluation.mean_auc())
    text += fmt::format("AUC {}{}\n", jobs::AccuracyText(*auc),
                        table.classes() == 2 ? "" : " (mean of the classes, each against the rest)");
  if (const auto& probabilities = evaluation.probabilities)
    text += fmt::format("log-loss {:.4f}\ncalibration error {:.4f}\n", probabilities->log_loss,
                        ml::ExpectedCalibrationError(probabilities->calibration));
  return text;
}

std::string ClassesText(const jobs::Evaluation& evaluation, const std::vector<std::string>& names) {
  auto text = fmt::format("\n{:<16}{:>10}{:>10}{:>10}{:>10}{:>10}\n", "class", "records", "correct", "recall",
                          "precision", "AUC");
  const auto& table = evaluation.table;
  for (int k = 0; k < table.classes(); ++k) {
    const auto at = static_cast<std::size_t>(k);
    text +=
        fmt::format("{:<16}{:>10}{:>10}{:>10}{:>10}{:>10}\n", names[at], table.records(k), table.count(k, k),
                    ShareText(table.recall(k)), ShareText(table.precision(k)), ShareText(evaluation.auc[at]));
  }
  return text;
}

std::string ConfusionText(const ml::ConfusionTable& table, const std::vector<std::string>& names) {
  auto text = fmt::format("\n{:<16}", "taken for");
  for (const auto& name : names) text += fmt::format(" {:>9}", name);
  for (int actual = 0; actual < table.classes(); ++actual) {
    text += fmt::format("\n{:<16}", names[static_cast<std::size_t>(actual)]);
    for (int predicted = 0; predicted < table.classes(); ++predicted)
      text += fmt::format(" {:>9}", table.count(actual, predicted));
  }
  return text + '\n';
}

void PrintText(const jobs::TargetEvaluation& evaluation) {
  std::cout << fmt::format("{} ({} records)\n", jobs::FiguresOf(evaluation), evaluation.records);
  for (const auto& warning : jobs::WarningsOf(evaluation)) std::cout << "warning: " + warning + '\n';
  std::cout << fmt::format("\n{:>10}{:>14}{:>14}\n", "records", "predicted", "true");
  for (const auto& bin : evaluation.calibration)
    std::cout << fmt::format("{:>10}{:>14.4g}{:>14.4g}\n", bin.records, bin.predicted, bin.actual);
}

void PrintText(const jobs::Evaluation& evaluation, const jobs::RecordSchema& schema) {
  std::vector<std::string> names;
  for (int k = 0; k < evaluation.table.classes(); ++k) names.push_back(OneLine(jobs::ClassName(schema, k)));
  std::cout << FiguresText(evaluation);
  for (const auto& warning : jobs::WarningsOf(evaluation, schema))
    std::cout << "warning: " + OneLine(warning) + '\n';
  std::cout << ClassesText(evaluation, names);
  if (evaluation.table.classes() <= kMaxShown) std::cout << ConfusionText(evaluation.table, names);
}

int RunEvaluate(const EvaluateOptions& options) {
  auto loaded = jobs::LoadModel(options.model, options.types);
  if (options.threshold) jobs::SetThreshold(loaded.schema, *options.threshold, "--threshold");
  const auto& schema = loaded.schema.records;
  const auto files =
      jobs::NamedTestData(WithStandardInput(options.data), schema.data, data::LabelUse::kRead, options.query);
  auto inputs = files.table();
  inputs.insert(inputs.end(), {files.x, files.y, options.model, options.feature_model});
  CheckOutputFile("--out", options.out, inputs);
  const auto table = jobs::LoadRecords(schema, files, {.feature_model = options.feature_model});
  if (table.y.empty()) throw DataError(options.data[0] + ": found no records, expected at least one");
  const auto write = [&](const std::string& text, const auto& print) {
    if (!options.out.empty()) WriteTextFile(options.out, text);
    if (!options.json) return print();
    std::cout << text;
  };
  if (schema.data.target) {
    const auto evaluation = jobs::EvaluateTargets(loaded.model, loaded.schema, table);
    write(EvaluationText(evaluation, options.model), [&] { PrintText(evaluation); });
    return kDone;
  }
  const auto evaluation = jobs::Evaluate(loaded.model, loaded.schema, table);
  write(EvaluationText(evaluation, schema, options.model), [&] { PrintText(evaluation, schema); });
  return kDone;
}

}  // namespace

void AddEvaluate(CLI::App& program, Action& action, jobs::JobTypes types) {
  auto options = std::make_shared<EvaluateOptions>();
  options->types = types;
  auto* command = program.add_subcommand("evaluate",
                                         "How a released model does on clear data: accuracy, recall and "
                                         "precision a class, AUC, log-loss, calibration; of targets R² and "
                                         "the root of the mean squared error (RMSE)");
  command->add_option("--model", options->model, "The model, model.npz")->required();
  command
      ->add_option("--data", options->data,
                   "A folder with test files, or the files: features and labels, or those of one table, or a "
                   "folder of images; - for one file on standard input")
      ->required();
  command->add_option(
      "--query", options->query,
      "With one SQLite database, or postgres:DATABASE, as --data: the SELECT that gives the table");
  command->add_option("--feature-model", options->feature_model,
                      "The ONNX model that features come from, where the job's method is onnx");
  command->add_option(
      "--threshold", options->threshold,
      "Two classes: in place of the job's model.threshold; it tells nothing and costs nothing");
  command->add_option("--out", options->out,
                      "A file for the same as JSON; `report` shows RUN_DIR/evaluation.json");
  command->add_flag("--json", options->json, "Print JSON");
  command->callback([options, &action] { action = [options] { return RunEvaluate(*options); }; });
}

}  // namespace trefoil::apps
