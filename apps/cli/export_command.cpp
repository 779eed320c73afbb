#include <spdlog/fmt/fmt.h>

#include <filesystem>
#include <iostream>
#include <memory>

#include "apps/cli/command.h"
#include "apps/report/coefficients.h"
#include "apps/report/model_export.h"
#include "base/error.h"
#include "base/error_report.h"
#include "base/files/files.h"
#include "base/files/output_file.h"

namespace trefoil::apps {
namespace {

namespace fs = std::filesystem;

struct ExportOptions {
  std::string model;
  std::string format;
  std::string out;
  jobs::JobTypes types;
};

/// --out, or the model's name with the format's ending.
fs::path TargetOf(const ExportOptions& options) {
  auto target = fs::path(options.out);
  if (target.empty()) target = fs::path(options.model).replace_extension(options.format);
  CheckOutputFile("--out", target, {options.model});
  return target;
}

std::string TextOf(const std::string& format, const jobs::ModelFile& model) {
  if (format == "onnx") return OnnxOf(model);
  return format == "csv" ? CoefficientsCsv(model) : SafetensorsOf(model);
}

int RunExport(const ExportOptions& options) {
  const auto model = jobs::LoadModel(options.model, options.types);
  const auto target = TargetOf(options);
  if (model.schema.records.data.vertical && options.format != "csv") {
    throw ConfigError(
        options.model +
        ": data.partition: found \"vertical\", whose rows are normalised party by party, expected "
        "\"horizontal\"; this version exports no others");
  }
  if (options.format == "npz") {
    ExportNpz(target, model);
  } else {
    WriteTextFile(target, TextOf(options.format, model));
  }
  const auto& data = model.schema.records.data;
  std::cout << fmt::format("{}: {} features, {} hidden layers, {}, {} bytes\n", target.string(),
                           jobs::TrainedFeatures(model.schema.records), model.model.hidden.size(),
                           data.target ? "one target" : fmt::format("{} classes", data.classes),
                           fs::file_size(target));
  return kDone;
}

}  // namespace

void AddExport(CLI::App& program, Action& action, jobs::JobTypes types) {
  auto options = std::make_shared<ExportOptions>();
  options->types = types;
  auto* command = program.add_subcommand("export", "A released model as a file for other programs");
  command->add_option("--model", options->model, "The model, model.npz")->required();
  command
      ->add_option(
          "--format", options->format,
          "npz (NumPy), safetensors, onnx (all of a prediction, in float32), or csv (a linear model's "
          "coefficients in the columns' units)")
      ->check(CLI::IsMember({"npz", "safetensors", "onnx", "csv"}))
      ->required();
  command->add_option("--out", options->out,
                      "The file to be written; without it the model's name with the format's ending");
  command->callback([options, &action] { action = [options] { return RunExport(*options); }; });
}

}  // namespace trefoil::apps
