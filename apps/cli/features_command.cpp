#include <spdlog/fmt/fmt.h>

#include <chrono>
#include <filesystem>
#include <iostream>
#include <memory>
#include <vector>

#include "apps/cli/command.h"
#include "base/error.h"
#include "base/error_report.h"
#include "base/files/output_file.h"
#include "base/threads/thread_pool.h"
#include "data/features/feature_files.h"
#include "data/formats/file.h"
#include "jobs/config/named_files.h"
#include "jobs/config/toml/toml_reader.h"
#include "jobs/job.h"
#include "jobs/records/load_records.h"
#include "jobs/records/record_fields.h"

namespace trefoil::apps {
namespace {

using Clock = std::chrono::steady_clock;

struct FeaturesOptions {
  std::string method;
  std::string job;
  std::vector<std::string> in;
  std::string labels;
  std::string feature_model;
  std::string out;
  double scale = 1.0;
  std::optional<double> row_norm;
  std::size_t threads = 0;
  std::vector<std::string> assignments;
  jobs::JobTypes types;
};

/// Records and what becomes of them.
struct Extraction {
  data::Table table;
  std::vector<std::int64_t> labels;
  data::FeatureSpec spec;
  std::optional<double> row_norm;
  std::vector<double> means{};  ///< with row_norm: of rows of that length
};

/// [features] of a job that the options spell out, for records of this input.
jobs::FeatureSpec SpecOf(const FeaturesOptions& options, const data::FeatureInput& input) {
  toml::table root;
  for (const auto& assignment : options.assignments) jobs::SetValue(root, assignment);
  const std::string place = "--set";
  data::DataSpec data;
  data.features = input.x.cols();
  if (!input.texts.empty())
    data.columns.push_back({.name = "text", .kind = data::ColumnKind::kText, .values = {}});
  jobs::FeatureSpec spec;
  const jobs::Declaration fields = [&](jobs::FieldVisitor& v) {
    v.Table("features", "", [&] { jobs::FeatureFields(v, spec, data); });
  };
  jobs::CheckKeys(root, place, jobs::KeysOf(fields));
  root.insert("features", toml::table{});
  auto& features = *root["features"].as_table();
  features.insert_or_assign("method", options.method);
  if (options.method == "onnx")
    features.insert_or_assign("model_sha256", data::FileSha256(options.feature_model));
  if (input.image.given() && (options.method == "hog" || options.method == "scatter")) {
    toml::array size{input.image.height, input.image.width};
    if (input.image.channels != 1) size.push_back(input.image.channels);
    features.insert("image", std::move(size));
  }
  jobs::ReadInto(root, place, fields);
  return spec;
}

/// An array's own shape says how the values of several channels are ordered.
void CheckOrder(const std::string& file, const data::ImageSize& found, const data::ImageSize& expected) {
  if (!found.given() || !expected.given() || found == expected) return;
  if (found.channels == 1 && expected.channels == 1) return;
  throw DataError(
      fmt::format("{}: found {} images, expected {}", file, data::SizeText(found), data::SizeText(expected)));
}

Extraction FromFiles(const FeaturesOptions& options) {
  if (options.in.size() != 1)
    throw ConfigError(fmt::format("--in: found {} files, expected one, or --job", options.in.size()));
  if (!(options.scale > 0))
    throw ConfigError(fmt::format("--scale: found {}, expected above 0", options.scale));
  auto input =
      data::ReadFeatureInput(options.in[0], options.method == "hash-text", options.labels, options.scale);
  const auto features = SpecOf(options, input);
  CheckOrder(options.in[0], input.image, features.extraction.image);
  return {.table = {.x = std::move(input.x), .y = {}, .texts = std::move(input.texts)},
          .labels = std::move(input.labels),
          .spec = features.extraction,
          .row_norm = options.row_norm};
}

Extraction FromJob(const FeaturesOptions& options) {
  const auto job = jobs::ReadJob(options.job, options.assignments, options.types);
  const auto* schema = job->Records();
  if (schema == nullptr || schema->added_up())
    throw ConfigError(fmt::format("{}: found a job of type \"{}\" that reads no records, expected [features]",
                                  options.job, job->type()));
  if (schema->features.standardise.on)
    throw ConfigError(fmt::format(
        "{}: features.standardise: found \"private\", expected \"none\": means and scales are known once "
        "the job has run",
        options.job));
  if (options.row_norm && !schema->features.means.empty())
    throw ConfigError(
        fmt::format("--row-norm: found {}, expected none with the features.means of {}, which are of rows of "
                    "its row_norm",
                    *options.row_norm, options.job));
  if (schema->data.target) {
    throw ConfigError(fmt::format(
        "{}: data.target: found one, expected classes: the file of features has whole numbers for labels",
        options.job));
  }
  auto table = data::Load(schema->data, jobs::NamedFiles("--in", options.in, schema->data));
  std::vector<std::int64_t> labels(table.y.begin(), table.y.end());
  // Rows of which nothing is extracted are made no longer by the job, and vertical ones are scaled by party.
  if (schema->features.extraction.method == data::FeatureMethod::kNone && !options.row_norm)
    return {.table = jobs::WithFeatures(*schema, std::move(table)),
            .labels = std::move(labels),
            .spec = {},
            .row_norm = {}};
  return {.table = std::move(table),
          .labels = std::move(labels),
          .spec = schema->features.extraction,
          .row_norm = options.row_norm.value_or(schema->features.row_norm),
          .means = schema->features.means};
}

int RunFeatures(const FeaturesOptions& options) {
  if (options.method.empty() == options.job.empty())
    throw ConfigError("features: expected --method or --job, and not both");
  if (options.row_norm && !(*options.row_norm > 0))
    throw ConfigError(fmt::format("--row-norm: found {}, expected above 0", *options.row_norm));
  data::CheckFeatureFileName(options.out, !options.labels.empty() || !options.job.empty());
  if (options.method == "onnx" && options.feature_model.empty())
    throw ConfigError("--feature-model: missing, expected the ONNX model's file");
  std::vector<std::filesystem::path> inputs(options.in.begin(), options.in.end());
  inputs.insert(inputs.end(), {options.labels, options.feature_model});
  CheckOutputFile("--out", options.out, inputs);
  auto extraction = options.job.empty() ? FromFiles(options) : FromJob(options);
  auto& table = extraction.table;
  ThreadPool pool(ThreadsFor(options.threads));
  const auto start = Clock::now();
  data::Extract(extraction.spec, table, pool, options.feature_model);
  if (extraction.row_norm)
    jobs::ScaleExtracted({.extraction = {}, .row_norm = *extraction.row_norm, .means = extraction.means},
                         table.x);
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  data::WriteFeatures(options.out, table.x, extraction.labels);
  if (!extraction.means.empty())
    std::cout
        << "Note: less features.means; an exported model subtracts them itself (--set features.means=[])\n";
  std::cout << fmt::format("{} records, {} features each, {:.2f} s, {:.0f} records/s on {} threads: {}\n",
                           table.x.rows(), table.x.cols(), seconds,
                           static_cast<double>(table.x.rows()) / std::max(seconds, 1e-9), pool.threads(),
                           options.out);
  return kDone;
}

}  // namespace

void AddFeatures(CLI::App& program, Action& action, jobs::JobTypes types) {
  auto options = std::make_shared<FeaturesOptions>();
  options->types = types;
  auto* command = program.add_subcommand(
      "features", "Extract features from records, as a job with [features] does before it shares them");
  command
      ->add_option("--method", options->method,
                   "How: hog, scatter (images), hash-text (lines of text), onnx (a model)")
      ->check(CLI::IsMember({"hog", "scatter", "hash-text", "onnx"}));
  command->add_option("--job", options->job, "Instead: [data], [features] and row norm of a job file");
  command
      ->add_option(
          "--in", options->in,
          "IDX, NPY or NPZ (x, and y if there), or a text file of a record a line; with --job what the "
          "job declares: features and labels, or one table, or a folder of images")
      ->required();
  command->add_option("--labels", options->labels, "Labels to be kept, IDX or NPY; without --job");
  command->add_option("--feature-model", options->feature_model,
                      "The ONNX model; say its number of outputs by --set features.outputs=N");
  command->add_option("--out", options->out, "FILE.npz (x and y) or FILE.npy (x), float32")->required();
  command->add_option("--scale", options->scale, "Divide values by this; without --job")
      ->capture_default_str();
  command->add_option("--row-norm", options->row_norm,
                      "Scale each row to this length; not with a job's features.means");
  command->add_option("--threads", options->threads, "Threads; 0: all cores")->capture_default_str();
  command
      ->add_option("--set", options->assignments,
                   "KEY=VALUE of [features], as in features.cell=8; may be repeated")
      ->allow_extra_args(false);
  command->callback([options, &action] { action = [options] { return RunFeatures(*options); }; });
}

}  // namespace trefoil::apps
