#include "jobs/config/feature_reader.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"

namespace trefoil::jobs {
namespace {

using data::FeatureMethod;
using Names = std::vector<std::string>;

constexpr std::int64_t kMostColumns = 1'000'000;
constexpr WholeInterval kSmallNumber{1, 1000};

struct Method {
  FeatureMethod method;
  const char* name;
  Names keys;  ///< beside method and row_norm
};

const std::array<Method, 5>& Methods() {
  static const std::array<Method, 5> methods{{
      {FeatureMethod::kNone, "none", {}},
      {FeatureMethod::kHog, "hog", {"image", "cell", "orientations", "block"}},
      {FeatureMethod::kScatter, "scatter", {"image", "scales", "angles", "groups"}},
      {FeatureMethod::kHashText, "hash-text", {"dimension", "characters", "words", "fold_case"}},
      {FeatureMethod::kOnnx, "onnx", {"model_sha256", "input", "outputs"}},
  }};
  return methods;
}

bool OfImages(FeatureMethod method) {
  return method == FeatureMethod::kHog || method == FeatureMethod::kScatter;
}

const Method& ReadMethod(const Section& section) {
  Names names;
  for (const auto& method : Methods()) names.emplace_back(method.name);
  const auto name = section.Choice("method", names, "none");
  const auto& chosen = *std::find_if(Methods().begin(), Methods().end(),
                                     [&](const Method& method) { return method.name == name; });
  for (const auto& key : section.Keys()) {
    if (key == "method" || key == "row_norm") continue;
    if (std::find(chosen.keys.begin(), chosen.keys.end(), key) == chosen.keys.end())
      section.Fail(key, fmt::format("method \"{}\" does not have it", name));
  }
  return chosen;
}

/// The key `image`: height and width, of as many pixels as a record has features; without it, a square.
data::ImageSize ReadImage(const Section& section, std::int64_t features) {
  const auto expected = fmt::format("[height, width] of {} pixels (data.features)", features);
  const auto side = std::llround(std::sqrt(static_cast<double>(features)));
  std::vector<std::int64_t> size{side, side};
  if (section.Has("image") || side * side != features) {
    size = section.Wholes("image", {1, kMostColumns}, expected);
    if (size.size() != 2 || size[0] * size[1] != features) section.Refuse("image", expected);
  }
  return {.height = static_cast<int>(size[0]), .width = static_cast<int>(size[1])};
}

int ReadSmall(const Section& section, std::string_view key, int fallback) {
  return static_cast<int>(section.Whole(key, kSmallNumber, fallback));
}

data::HogSpec ReadHog(const Section& section) {
  const data::HogSpec defaults;
  return {.cell = ReadSmall(section, "cell", defaults.cell),
          .orientations = ReadSmall(section, "orientations", defaults.orientations),
          .block = ReadSmall(section, "block", defaults.block)};
}

data::ScatterSpec ReadScatter(const Section& section) {
  const data::ScatterSpec defaults;
  return {.scales = ReadSmall(section, "scales", defaults.scales),
          .angles = ReadSmall(section, "angles", defaults.angles),
          .groups = ReadSmall(section, "groups", defaults.groups)};
}

data::NgramRange ReadNgrams(const Section& section, std::string_view key, const data::NgramRange& fallback) {
  const std::string expected = "[least, most] from 1 to 16, or []";
  const auto range =
      section.Wholes(key, {1, 16}, expected, std::vector<std::int64_t>{fallback.least, fallback.most});
  if (range.empty()) return {};
  if (range.size() != 2 || range[0] > range[1]) section.Refuse(key, expected);
  return {.least = static_cast<int>(range[0]), .most = static_cast<int>(range[1])};
}

data::HashTextSpec ReadHashText(const Section& section) {
  const data::HashTextSpec defaults;
  return {.dimension = section.Whole("dimension", {1, kMostColumns}, defaults.dimension),
          .characters = ReadNgrams(section, "characters", defaults.characters),
          .words = ReadNgrams(section, "words", defaults.words),
          .fold_case = section.Flag("fold_case", defaults.fold_case)};
}

data::OnnxSpec ReadOnnx(const Section& section, std::int64_t features) {
  const auto input =
      section.Wholes("input", {1, kMostColumns}, "the shape of a record", std::vector{features});
  data::OnnxSpec spec{.model_sha256 = section.Text("model_sha256"),
                      .outputs = section.Whole("outputs", {1, kMostColumns})};
  for (const auto length : input) spec.input.push_back(static_cast<int>(length));
  return spec;
}

/// Columns of text are there exactly if there is a method for them.
void CheckTexts(const Section& section, FeatureMethod method, const data::DataSpec& data) {
  const bool texts = data::CountTexts(data) > 0;
  if (method == FeatureMethod::kHashText && !texts)
    section.Refuse("method", "another one, as data.column has none of kind \"text\"");
  if (method != FeatureMethod::kHashText && texts) {
    section.Fail(
        "method",
        "expected \"hash-text\", as data.column has one of kind \"text\" (\"ignore\" leaves it out)");
  }
}

void CheckColumns(const Section& section, const data::FeatureSpec& spec, std::int64_t columns) {
  std::int64_t extracted = 0;
  try {
    extracted = data::ExtractedColumns(spec, columns);
  } catch (const ConfigError& error) {
    throw ConfigError(section.file() + ": " + error.what());
  }
  if (extracted > kMostColumns)
    section.Refuse("method", fmt::format("at most {} features, and not {}", kMostColumns, extracted));
}

nlohmann::json RangeJson(const data::NgramRange& range) {
  if (range.most == 0) return nlohmann::json::array();
  return {range.least, range.most};
}

}  // namespace

const Names& FeatureKeys() {
  static const Names keys = [] {
    Names all{"features.method", "features.row_norm"};
    for (const auto& method : Methods()) {
      for (const auto& key : method.keys) {
        const auto full = "features." + key;
        if (std::find(all.begin(), all.end(), full) == all.end()) all.push_back(full);
      }
    }
    return all;
  }();
  return keys;
}

FeatureSpec ReadFeatures(const Section& section, const data::DataSpec& data) {
  FeatureSpec features{.extraction = {.method = ReadMethod(section).method},
                       .row_norm = section.Number("row_norm", {.above = 0.0, .below = {}}, 1.0)};
  auto& spec = features.extraction;
  CheckTexts(section, spec.method, data);
  if (OfImages(spec.method)) spec.image = ReadImage(section, data.features);
  if (spec.method == FeatureMethod::kHog) spec.hog = ReadHog(section);
  if (spec.method == FeatureMethod::kScatter) spec.scatter = ReadScatter(section);
  if (spec.method == FeatureMethod::kHashText) spec.hash_text = ReadHashText(section);
  if (spec.method == FeatureMethod::kOnnx) spec.onnx = ReadOnnx(section, data.features);
  CheckColumns(section, spec, data.features);
  return features;
}

nlohmann::json FeaturesJson(const FeatureSpec& features) {
  const auto& spec = features.extraction;
  nlohmann::json json{{"row_norm", features.row_norm}};
  for (const auto& method : Methods()) {
    if (method.method == spec.method) json["method"] = method.name;
  }
  if (OfImages(spec.method)) json["image"] = {spec.image.height, spec.image.width};
  switch (spec.method) {
    case FeatureMethod::kNone:
      break;
    case FeatureMethod::kHog:
      json["cell"] = spec.hog.cell;
      json["orientations"] = spec.hog.orientations;
      json["block"] = spec.hog.block;
      break;
    case FeatureMethod::kScatter:
      json["scales"] = spec.scatter.scales;
      json["angles"] = spec.scatter.angles;
      json["groups"] = spec.scatter.groups;
      break;
    case FeatureMethod::kHashText:
      json["dimension"] = spec.hash_text.dimension;
      json["characters"] = RangeJson(spec.hash_text.characters);
      json["words"] = RangeJson(spec.hash_text.words);
      json["fold_case"] = spec.hash_text.fold_case;
      break;
    case FeatureMethod::kOnnx:
      json["model_sha256"] = spec.onnx.model_sha256;
      json["input"] = spec.onnx.input;
      json["outputs"] = spec.onnx.outputs;
      break;
  }
  return json;
}

}  // namespace trefoil::jobs
