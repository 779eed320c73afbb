#include <spdlog/fmt/fmt.h>

#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/cli/command.h"
#include "base/error.h"
#include "base/error_report.h"
#include "jobs/config/named_files.h"
#include "jobs/files/model_file.h"
#include "jobs/records/classify.h"
#include "jobs/records/load_records.h"
#include "jobs/statement/bound_text.h"

namespace trefoil::apps {
namespace {

struct EvaluateOptions {
  std::string model;
  std::vector<std::string> data;
  std::string feature_model;
  bool json = false;
};

void PrintJson(const jobs::Evaluation& evaluation, const jobs::RecordSchema& schema) {
  nlohmann::ordered_json json{
      {"accuracy", evaluation.accuracy()}, {"records", evaluation.records}, {"correct", evaluation.correct}};
  json["classes"] = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < evaluation.classes.size(); ++i) {
    const auto& counts = evaluation.classes[i];
    json["classes"].push_back({{"class", jobs::ClassName(schema, static_cast<int>(i))},
                               {"records", counts.records},
                               {"correct", counts.correct},
                               {"predicted", counts.predicted}});
  }
  std::cout << json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) << '\n';
}

void PrintTable(const jobs::Evaluation& evaluation, const jobs::RecordSchema& schema) {
  std::cout << fmt::format("accuracy {} ({} of {} records)\n\n{:<16}{:>10}{:>10}{:>10}{:>10}\n",
                           jobs::AccuracyText(evaluation.accuracy()), evaluation.correct, evaluation.records,
                           "class", "records", "correct", "recall", "precision");
  const auto share = [](std::int64_t part, std::int64_t whole) {
    return whole == 0 ? std::string("-")
                      : jobs::AccuracyText(static_cast<double>(part) / static_cast<double>(whole));
  };
  for (std::size_t i = 0; i < evaluation.classes.size(); ++i) {
    const auto& counts = evaluation.classes[i];
    std::cout << fmt::format("{:<16}{:>10}{:>10}{:>10}{:>10}\n",
                             OneLine(jobs::ClassName(schema, static_cast<int>(i))), counts.records,
                             counts.correct, share(counts.correct, counts.records),
                             share(counts.correct, counts.predicted));
  }
}

int RunEvaluate(const EvaluateOptions& options) {
  const auto loaded = jobs::LoadModel(options.model);
  const auto table =
      jobs::LoadRecords(loaded.schema.records, jobs::NamedTestData(options.data, loaded.schema.records.data),
                        {.feature_model = options.feature_model});
  if (table.y.empty()) throw DataError(options.data[0] + ": found no records, expected at least one");
  const auto evaluation = jobs::Evaluate(loaded.model, table, loaded.schema.records.data.classes);
  if (options.json) {
    PrintJson(evaluation, loaded.schema.records);
  } else {
    PrintTable(evaluation, loaded.schema.records);
  }
  return kDone;
}

}  // namespace

void AddEvaluate(CLI::App& program, Action& action) {
  auto options = std::make_shared<EvaluateOptions>();
  auto* command = program.add_subcommand("evaluate", "Accuracy of a released model on clear data");
  command->add_option("--model", options->model, "The model, model.npz")->required();
  command
      ->add_option("--data", options->data,
                   "A folder with test files, or the files: features and labels, or one table")
      ->required();
  command->add_option("--feature-model", options->feature_model,
                      "The ONNX model that features come from, where the job's method is onnx");
  command->add_flag("--json", options->json, "Print JSON");
  command->callback([options, &action] { action = [options] { return RunEvaluate(*options); }; });
}

}  // namespace trefoil::apps
