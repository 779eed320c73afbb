#include <spdlog/fmt/fmt.h>

#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/bound_text.h"
#include "apps/command.h"
#include "apps/error_report.h"
#include "apps/evaluation.h"
#include "apps/model_file.h"
#include "apps/named_files.h"
#include "base/error.h"

namespace trefoil::apps {
namespace {

struct EvaluateOptions {
  std::string model;
  std::vector<std::string> data;
  std::string feature_model;
  bool json = false;
};

void PrintJson(const Evaluation& evaluation, const Job& job) {
  nlohmann::ordered_json json{
      {"accuracy", evaluation.accuracy()}, {"records", evaluation.records}, {"correct", evaluation.correct}};
  json["classes"] = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < evaluation.classes.size(); ++i) {
    const auto& counts = evaluation.classes[i];
    json["classes"].push_back({{"class", ClassName(job, static_cast<int>(i))},
                               {"records", counts.records},
                               {"correct", counts.correct},
                               {"predicted", counts.predicted}});
  }
  std::cout << json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) << '\n';
}

void PrintTable(const Evaluation& evaluation, const Job& job) {
  std::cout << fmt::format("accuracy {} ({} of {} records)\n\n{:<16}{:>10}{:>10}{:>10}{:>10}\n",
                           AccuracyText(evaluation.accuracy()), evaluation.correct, evaluation.records,
                           "class", "records", "correct", "recall", "precision");
  const auto share = [](std::int64_t part, std::int64_t whole) {
    return whole == 0 ? std::string("-")
                      : AccuracyText(static_cast<double>(part) / static_cast<double>(whole));
  };
  for (std::size_t i = 0; i < evaluation.classes.size(); ++i) {
    const auto& counts = evaluation.classes[i];
    std::cout << fmt::format("{:<16}{:>10}{:>10}{:>10}{:>10}\n", OneLine(ClassName(job, static_cast<int>(i))),
                             counts.records, counts.correct, share(counts.correct, counts.records),
                             share(counts.correct, counts.predicted));
  }
}

int RunEvaluate(const EvaluateOptions& options) {
  const auto loaded = LoadModel(options.model);
  const auto table = LoadRecords(loaded.job, NamedTestData(options.data, loaded.job.data),
                                 {.feature_model = options.feature_model});
  if (table.y.empty()) throw DataError(options.data[0] + ": found no records, expected at least one");
  const auto evaluation = Evaluate(loaded.model, table, loaded.job.data.classes);
  if (options.json) {
    PrintJson(evaluation, loaded.job);
  } else {
    PrintTable(evaluation, loaded.job);
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
