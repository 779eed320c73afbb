#include "apps/report/model_export.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "data/columns/feature_columns.h"
#include "data/formats/safetensors.h"
#include "jobs/evaluation/classify.h"

namespace trefoil::apps {
namespace {

using RowMajorFloat = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr double kInfinity =
    std::numeric_limits<float>::max();  // as operators have it that know a limit only

bool Extracts(const jobs::RecordSchema& schema) {
  return schema.features.extraction.method != data::FeatureMethod::kNone;
}

/// What prediction needs beside the weights, by name; a record is of class 1 of two above `decision`, a
/// target is low + (high - low) (output + 1/2), or of Poisson's loss e^(output + target_offset), at most
/// high.
std::vector<std::pair<std::string, double>> ConstantsOf(const jobs::ModelFile& model) {
  std::vector<std::pair<std::string, double>> constants{{"scale", model.schema.records.data.scale},
                                                        {"row_norm", model.schema.records.features.row_norm}};
  if (!model.model.hidden.empty()) constants.emplace_back("activation_bound", model.model.activation_bound);
  if (model.schema.classifier.threshold != 0.5)
    constants.emplace_back("decision", ml::DecisionLogit(model.schema.classifier));
  if (const auto& target = model.schema.records.data.target) {
    constants.emplace_back("target_low", target->low);
    constants.emplace_back("target_high", target->high);
    if (model.schema.classifier.loss == ml::Loss::kPoisson)
      constants.emplace_back("target_offset", std::log(target->high) - ml::kPoissonOffset);
  }
  return constants;
}

/// What is subtracted from extracted rows of length row_norm, as the array `means`; none: nothing is.
std::vector<std::pair<std::string, data::NpyArray>> MeansOf(const jobs::ModelFile& model) {
  const auto& means = model.schema.records.features.means;
  if (means.empty()) return {};
  return {{"means", data::NpyFromDoubles({means.size()}, means)}};
}

std::map<std::string, std::string> MetadataOf(const jobs::ModelFile& model) {
  const auto& schema = model.schema.records;
  std::map<std::string, std::string> metadata{{"job", model.schema.json}};
  if (!schema.data.target) {
    auto labels = nlohmann::json::array();
    for (int k = 0; k < schema.data.classes; ++k) labels.push_back(jobs::ClassName(schema, k));
    metadata["classes"] = std::to_string(schema.data.classes);
    metadata["labels"] = labels.dump();
  }
  for (const auto& [name, value] : ConstantsOf(model)) metadata[name] = fmt::format("{}", value);
  return metadata;
}

/// Between what each feature of a record is moved, what is then subtracted from it, and what it is divided
/// by.
struct Encoding {
  std::vector<float> lows;
  std::vector<float> highs;
  std::vector<float> means;
  std::vector<float> scales;
};

Encoding EncodingOf(const data::DataSpec& spec) {
  Encoding encoding;
  for (const auto& column : data::FeatureColumns(spec)) {
    encoding.lows.push_back(static_cast<float>(std::clamp(column.low, -kInfinity, kInfinity)));
    encoding.highs.push_back(static_cast<float>(std::clamp(column.high, -kInfinity, kInfinity)));
    encoding.means.push_back(static_cast<float>(column.mean));
    encoding.scales.push_back(static_cast<float>(column.scale));
  }
  return encoding;
}

bool AllAre(const std::vector<float>& values, float value) {
  return std::all_of(values.begin(), values.end(), [&](float other) { return other == value; });
}

/// The graph, node after node; `last_` is the value that the next one goes on from.
class GraphBuilder {
 public:
  explicit GraphBuilder(const jobs::ModelFile& model) : model_(model) {}

  std::string Build() {
    const auto inputs = jobs::TrainedFeatures(model_.schema.records);
    if (!Extracts(model_.schema.records)) AddEncoding(EncodingOf(model_.schema.records.data));
    AddRowNorm();
    const auto& hidden = model_.model.hidden;
    for (std::size_t k = 0; k < hidden.size(); ++k) {
      const auto number = std::to_string(k + 1);
      AddDense(hidden[k].weights, hidden[k].bias, "hidden_", "_" + number, "z_" + number);
      AddClip(0, model_.model.activation_bound, "hidden_" + number);
    }
    AddOutput();
    return writer_.Finish({.name = "x", .shape = {data::kAnyLength, inputs}},
                          {.name = last_, .shape = {data::kAnyLength, model_.model.bias.size()}},
                          Description(), MetadataOf(model_));
  }

 private:
  [[nodiscard]] std::string Description() const {
    return fmt::format("Released by the job {}. x: {}. {}: {}.", model_.schema.records.name,
                       Extracts(model_.schema.records)
                           ? "features as `trefoil features` extracts them, of any length, and less no means"
                           : "records, values as in the data, categories as 0/1 columns in the job's order",
                       last_,
                       model_.schema.records.data.target         ? "the target in its own unit"
                       : model_.schema.records.data.classes == 2 ? "the logit of class 1"
                                                                 : "the logit of each class");
  }

  /// The last layer; of targets with their range in its weights.
  void AddOutput() {
    const auto& weights = model_.model.weights;
    const auto& bias = model_.model.bias;
    const auto& target = model_.schema.records.data.target;
    if (!target) return AddDense(weights, bias, "", "", "scores");
    if (model_.schema.classifier.loss == ml::Loss::kPoisson) {
      const double largest = std::log(target->high);
      AddDense(weights, bias.array() + (largest - ml::kPoissonOffset), "", "", "logarithm");
      Apply("Min", Scalar("largest_logarithm", largest), "bounded_logarithm");
      writer_.AddNode("Exp", {last_}, "target");
      last_ = "target";
      return;
    }
    const double width = target->high - target->low;
    AddDense(weights * width, (bias.array() + 0.5) * width + target->low, "", "", "target");
  }

  std::string Scalar(const std::string& name, double value) {
    const auto single = static_cast<float>(value);
    writer_.AddConstant(name, {}, {&single, 1});
    return name;
  }

  /// A node of two inputs, the first of which is what came last.
  void Apply(const std::string& type, const std::string& operand, const std::string& output) {
    writer_.AddNode(type, {last_, operand}, output);
    last_ = output;
  }

  void AddEncoding(const Encoding& encoding) {
    const auto width = static_cast<std::int64_t>(encoding.means.size());
    if (!AllAre(encoding.lows, static_cast<float>(-kInfinity))) {
      writer_.AddConstant("lows", {1, width}, encoding.lows);
      Apply("Max", "lows", "raised");
    }
    if (!AllAre(encoding.highs, static_cast<float>(kInfinity))) {
      writer_.AddConstant("highs", {1, width}, encoding.highs);
      Apply("Min", "highs", "bounded");
    }
    if (!AllAre(encoding.means, 0)) {
      writer_.AddConstant("means", {1, width}, encoding.means);
      Apply("Sub", "means", "centred");
    }
    if (AllAre(encoding.scales, 1)) return;
    if (AllAre(encoding.scales, encoding.scales.front())) {
      Apply("Div", Scalar("scale", static_cast<double>(encoding.scales.front())), "scaled");
    } else {
      writer_.AddConstant("scales", {1, width}, encoding.scales);
      Apply("Div", "scales", "scaled");
    }
  }

  /// Cuts what came last to [least, most].
  void AddClip(double least, double most, const std::string& output) {
    writer_.AddNode("Clip", {last_}, output,
                    {{"min", static_cast<float>(least)}, {"max", static_cast<float>(most)}});
    last_ = output;
  }

  /// What came last divided by the norm of its rows over row_norm, where norms count as `least` if they are
  /// less: exactly 1 for shorter rows if that is row_norm.
  void AddDivisionByNorm(double least, const std::string& suffix = "") {
    const auto rows = last_;
    writer_.AddNode("ReduceL2", {rows}, "norm" + suffix, kOfRows);
    last_ = "norm" + suffix;
    AddClip(least, kInfinity, "length" + suffix);
    Apply("Div", Scalar("row_norm" + suffix, model_.schema.records.features.row_norm), "excess" + suffix);
    writer_.AddNode("Div", {rows, "excess" + suffix}, "row" + suffix);
    last_ = "row" + suffix;
  }

  /// Extracted rows, but zeros, to row_norm, with means once more when these are subtracted; others only down
  /// to it.
  void AddRowNorm() {
    const auto& features = model_.schema.records.features;
    if (!Extracts(model_.schema.records)) return AddDivisionByNorm(features.row_norm);
    AddExtractedNorm("");
    if (features.means.empty()) return;
    const std::vector<float> means(features.means.begin(), features.means.end());
    writer_.AddConstant("means", {1, std::ssize(means)}, means);
    Apply("Sub", "means", "centred");
    AddExtractedNorm("_centred");
  }

  void AddExtractedNorm(const std::string& suffix) {
    // Divided by their largest entry first, so that squares of small features do not vanish: the norm is then
    // at least 1, but for zeros.
    const auto rows = last_;
    writer_.AddNode("Abs", {rows}, "magnitudes" + suffix);
    writer_.AddNode("ReduceMax", {"magnitudes" + suffix}, "largest" + suffix, kOfRows);
    last_ = "largest" + suffix;
    AddClip(std::numeric_limits<float>::min(), kInfinity, "divisor" + suffix);
    writer_.AddNode("Div", {rows, "divisor" + suffix}, "relative" + suffix);
    last_ = "relative" + suffix;
    AddDivisionByNorm(1, suffix);
  }

  /// A dense layer; the weights are kept with a row an output, as other exporters have them.
  void AddDense(const Eigen::MatrixXd& weights, const Eigen::VectorXd& bias, const std::string& prefix,
                const std::string& suffix, const std::string& output) {
    const RowMajorFloat single = weights.transpose().cast<float>();
    const Eigen::VectorXf single_bias = bias.cast<float>();
    const auto weights_name = prefix + "weights" + suffix;
    const auto bias_name = prefix + "bias" + suffix;
    writer_.AddConstant(weights_name, {single.rows(), single.cols()},
                        {single.data(), static_cast<std::size_t>(single.size())});
    writer_.AddConstant(bias_name, {single_bias.size()},
                        {single_bias.data(), static_cast<std::size_t>(single_bias.size())});
    writer_.AddNode("Gemm", {last_, weights_name, bias_name}, output, {{"transB", 1}});
    last_ = output;
  }

  inline static const std::vector<data::OnnxAttribute> kOfRows{{"axes", std::vector<std::int64_t>{1}},
                                                               {"keepdims", 1}};

  const jobs::ModelFile& model_;
  data::OnnxWriter writer_;
  std::string last_ = "x";
};

}  // namespace

void ExportNpz(const std::filesystem::path& file, const jobs::ModelFile& model) {
  auto constants = MeansOf(model);
  for (const auto& [name, value] : ConstantsOf(model))
    constants.emplace_back(name, data::NpyFromDoubles({}, {&value, 1}));
  jobs::SaveModel(file, model.model, model.schema, constants);
}

std::string SafetensorsOf(const jobs::ModelFile& model) {
  auto arrays = jobs::ModelArrays(model.model);
  for (auto& means : MeansOf(model)) arrays.push_back(std::move(means));
  return data::FormatSafetensors(arrays, MetadataOf(model));
}

std::string OnnxOf(const jobs::ModelFile& model, std::size_t most) {
  const auto& data = model.schema.records.data;
  const bool ranges = std::any_of(data.columns.begin(), data.columns.end(),
                                  [](const data::Column& column) { return column.low || column.high; });
  // Means and scales, and the ends of ranges; of extracted features means at most.
  auto bytes = (ranges ? 4U : 2U) * static_cast<std::size_t>(data.features) * sizeof(float);
  if (Extracts(model.schema.records)) bytes = model.schema.records.features.means.size() * sizeof(float);
  for (const auto& [name, array] : jobs::ModelArrays(model.model)) bytes += array.size() * sizeof(float);
  if (bytes > most) {
    throw ConfigError(fmt::format(
        "--format onnx: found {} bytes of arrays, expected at most {}; safetensors takes more", bytes, most));
  }
  return GraphBuilder(model).Build();
}

}  // namespace trefoil::apps
