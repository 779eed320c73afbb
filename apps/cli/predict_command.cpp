#include <iostream>
#include <memory>

#include "apps/cli/command.h"
#include "base/error_report.h"
#include "base/files.h"
#include "jobs/config/named_files.h"
#include "jobs/files/model_file.h"
#include "jobs/records/classify.h"
#include "jobs/records/load_records.h"
#include "jobs/records/predictions.h"

namespace trefoil::apps {
namespace {

struct PredictOptions {
  std::string model;
  std::vector<std::string> data;
  std::string feature_model;
  std::string out;
  bool scores = false;
};

std::string PredictionsOf(const jobs::ModelFile& model, const data::Matrix& x, bool with_scores) {
  std::vector<int> classes;
  Eigen::MatrixXd scores(x.rows(), model.model.weights.cols());
  for (Eigen::Index row = 0; row < x.rows(); ++row) {
    const auto logits = jobs::Logits(model.model, x.row(row).cast<double>());
    classes.push_back(jobs::ClassOf(logits));
    scores.row(row) = logits;
  }
  return jobs::PredictionsCsv(model.schema.records, classes,
                              with_scores ? std::optional(scores) : std::nullopt);
}

int RunPredict(const PredictOptions& options) {
  const auto model = jobs::LoadModel(options.model);
  constexpr auto kLabels = data::LabelUse::kIgnored;
  const auto table = jobs::LoadRecords(model.schema.records,
                                       jobs::NamedTestData(options.data, model.schema.records.data, kLabels),
                                       {.labels = kLabels, .feature_model = options.feature_model});
  const auto text = PredictionsOf(model, table.x, options.scores);
  if (!options.out.empty()) {
    WriteTextFile(options.out, text);
  } else {
    std::cout << text;
  }
  return kDone;
}

}  // namespace

void AddPredict(CLI::App& program, Action& action) {
  auto options = std::make_shared<PredictOptions>();
  auto* command = program.add_subcommand(
      "predict", "What a released model says of records, as CSV: row, label; nothing leaves this machine");
  command->add_option("--model", options->model, "The model, model.npz")->required();
  command
      ->add_option("--data", options->data,
                   "A folder with test files, or the files: features, or one table; labels are not looked at")
      ->required();
  command->add_option("--feature-model", options->feature_model,
                      "The ONNX model that features come from, where the job's method is onnx");
  command->add_option("--out", options->out, "The CSV file; without it standard output");
  command->add_flag("--scores", options->scores, "Also the logits: one a class, with two classes class 1's");
  command->callback([options, &action] { action = [options] { return RunPredict(*options); }; });
}

}  // namespace trefoil::apps
