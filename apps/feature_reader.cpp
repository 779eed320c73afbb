#include "apps/feature_reader.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"

namespace trefoil::apps {
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

const std::array<Method, 3>& Methods() {
  static const std::array<Method, 3> methods{{
      {FeatureMethod::kNone, "none", {}},
      {FeatureMethod::kHog, "hog", {"image", "cell", "orientations", "block"}},
      {FeatureMethod::kScatter, "scatter", {"image", "scales", "angles", "groups"}},
  }};
  return methods;
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
  if (spec.method == FeatureMethod::kNone) return features;
  spec.image = ReadImage(section, data.features);
  if (spec.method == FeatureMethod::kHog) spec.hog = ReadHog(section);
  if (spec.method == FeatureMethod::kScatter) spec.scatter = ReadScatter(section);
  CheckColumns(section, spec, data.features);
  return features;
}

nlohmann::json FeaturesJson(const FeatureSpec& features) {
  const auto& spec = features.extraction;
  nlohmann::json json{{"row_norm", features.row_norm}};
  for (const auto& method : Methods()) {
    if (method.method == spec.method) json["method"] = method.name;
  }
  if (spec.method == FeatureMethod::kNone) return json;
  json["image"] = {spec.image.height, spec.image.width};
  if (spec.method == FeatureMethod::kHog) {
    json["cell"] = spec.hog.cell;
    json["orientations"] = spec.hog.orientations;
    json["block"] = spec.hog.block;
  } else {
    json["scales"] = spec.scatter.scales;
    json["angles"] = spec.scatter.angles;
    json["groups"] = spec.scatter.groups;
  }
  return json;
}

}  // namespace trefoil::apps
