#include "jobs/average/settings.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <iterator>

#include <nlohmann/json.hpp>
#include <utility>

#include "jobs/config/party_list.h"
#include "jobs/dpsgd/settings_reader.h"

namespace trefoil::jobs {
namespace {

using Json = nlohmann::json;

// So that the rounding of weights hardly adds to the sensitivity.
constexpr int kFractionBits = 20;
constexpr int kScales = 16;
// Of epsilon, for the noise of the smallest size.
constexpr double kSizeShare = 0.1;

constexpr double kLargestAddedEpsilon = 64;

constexpr std::pair<ml::AverageNoise, const char*> kNoises[] = {
    {ml::AverageNoise::kLaplace, "sound"},
    {ml::AverageNoise::kGaussian, "gaussian"},
    {ml::AverageNoise::kAsPublished, "as-published"}};

std::vector<std::string> KnownKeys() {
  auto keys = SchemaKeys();
  keys.insert(keys.end(), OwnerKeys().begin(), OwnerKeys().end());
  for (const auto* key : {"average.lambda", "average.tolerance", "average.bias", "average.noise",
                          "average.scales", "privacy.epsilon", "privacy.delta", "privacy.neighbours",
                          "privacy.size_epsilon", "privacy.accountant", "release.to"})
    keys.emplace_back(key);
  return keys;
}

void ReadAverage(const Section& section, AverageSettings& job) {
  job.solver.lambda = section.Number("lambda", {.above = 0.0, .below = 1e6});
  job.solver.tolerance = section.Number("tolerance", {.above = 0.0, .below = 1.0}, 1e-6);
  job.solver.bias = section.Flag("bias", true);
  const auto noise = section.Choice("noise", {"sound", "gaussian", "as-published"}, "sound");
  for (const auto& [kind, name] : kNoises) {
    if (noise == name) job.noise = kind;
  }
  if (job.as_published() && section.Has("scales"))
    section.Fail("scales", "only average.noise \"sound\" and \"gaussian\" have it");
  job.scales = static_cast<int>(section.Whole("scales", {1, 1000}, kScales));
}

void ReadPrivacy(const Section& section, AverageSettings& job) {
  job.epsilon = section.Number("epsilon", {.above = 1e-4, .below = 1024.0});
  job.delta = section.Number("delta", {.above = 0.0, .below = 1.0});
  job.accountant = ReadTaskAccountant(section);
  const auto neighbours =
      section.Choice("neighbours", {"added", "replaced"}, job.as_published() ? "replaced" : "added");
  if (neighbours == "replaced") {
    if (section.Has("size_epsilon")) section.Fail("size_epsilon", "only privacy.neighbours \"added\" has it");
    return;
  }
  if (job.as_published())
    section.Refuse("neighbours", "\"replaced\" with average.noise \"as-published\", whose scale tells sizes");
  // What the size's noise may fail by costs (1 + e^epsilon) times as much.
  if (job.epsilon > kLargestAddedEpsilon)
    section.Refuse("epsilon",
                   fmt::format("at most {} with privacy.neighbours \"added\"", kLargestAddedEpsilon));
  job.size_epsilon =
      section.Number("size_epsilon", {.above = 1e-6, .below = job.epsilon}, kSizeShare * job.epsilon);
}

}  // namespace

AverageSettings ReadAverageSettings(const toml::table& root, const std::string& file) {
  CheckKeys(root, file, KnownKeys());
  const Section document(root, file);
  AverageSettings job;
  job.schema = ReadSchema(root, file, kFractionBits);
  job.name = job.schema.name;
  if (job.schema.data.classes != 2) document.Table("data").Refuse("classes", "2: a classifier has one logit");
  job.owners = ReadOwners(root, file, job.schema.data);
  ReadAverage(document.Table("average"), job);
  ReadPrivacy(document.Table("privacy"), job);
  job.owners.by_hash = job.size_epsilon.has_value();
  job.to = ReadParties(document.Table("release"), "to", true);
  return job;
}

const char* NameOf(ml::AverageNoise noise) {
  return std::find_if(std::begin(kNoises), std::end(kNoises),
                      [&](const auto& one) { return one.first == noise; })
      ->second;
}

std::string AverageJson(const AverageSettings& job) {
  auto json = Json::parse(DpsgdJson(job.schema));
  json["owners"] = OwnersJson(job.owners);
  json["average"] = {{"lambda", job.solver.lambda},
                     {"tolerance", job.solver.tolerance},
                     {"bias", job.solver.bias},
                     {"noise", NameOf(job.noise)}};
  if (!job.as_published()) json["average"]["scales"] = job.scales;
  json["privacy"] = {{"epsilon", job.epsilon}, {"delta", job.delta}};
  json["privacy"]["accountant"] = dp::NameOf(job.accountant);
  json["privacy"]["neighbours"] = job.size_epsilon ? "added" : "replaced";
  if (job.size_epsilon) json["privacy"]["size_epsilon"] = *job.size_epsilon;
  json["release"] = {{"to", job.to}};
  return json.dump();
}

ml::AverageSettings AverageSettingsOf(const AverageSettings& job) {
  return {.owners = job.owners.count,
          .features = TrainedFeatures(job.schema),
          .row_norm = job.schema.features.row_norm,
          .solver = job.solver,
          .least_rows = job.owners.least_rows,
          .most_rows = job.owners.most_rows,
          .scales = job.scales,
          .fraction_bits = job.schema.fraction_bits,
          .epsilon = job.epsilon,
          .delta = job.delta,
          .size_epsilon = job.size_epsilon,
          .noise = job.noise,
          .accountant = job.accountant};
}

}  // namespace trefoil::jobs
