#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/sha256.h"
#include "jobs/config/feature_reader.h"
#include "jobs/dpsgd/evaluation_reader.h"
#include "jobs/dpsgd/initialisation_reader.h"
#include "jobs/dpsgd/settings_reader.h"

namespace trefoil::jobs {
namespace {

using Json = nlohmann::json;  // an object's keys are sorted

const char* NameOf(data::Format format) {
  switch (format) {
    case data::Format::kIdx:
      return "idx";
    case data::Format::kCsv:
      return "csv";
    case data::Format::kNpy:
      return "npy";
    case data::Format::kNpz:
      return "npz";
  }
  return "";
}

Json ToJson(const data::Column& column) {
  switch (column.kind) {
    case data::ColumnKind::kKey:
      return {{"name", column.name}, {"kind", "key"}};
    case data::ColumnKind::kNumber:
      return {{"name", column.name}, {"kind", "number"}, {"mean", column.mean}, {"scale", column.scale}};
    case data::ColumnKind::kCategory:
      return {{"name", column.name}, {"kind", "category"}, {"values", column.values}};
    case data::ColumnKind::kText:
      return {{"name", column.name}, {"kind", "text"}};
    case data::ColumnKind::kIgnore:
      break;
  }
  return {{"name", column.name}, {"kind", "ignore"}};
}

Json ToJson(const data::DataSpec& spec) {
  Json json{{"name", spec.name},       {"format", NameOf(spec.format)},
            {"rows", spec.rows},       {"features", spec.features},
            {"classes", spec.classes}, {"partition", spec.vertical ? "vertical" : "horizontal"}};
  if (spec.format != data::Format::kCsv) {
    json["scale"] = spec.scale;
    return json;
  }
  json["header"] = spec.header;
  json["missing"] = spec.missing;
  json["column"] = Json::array();
  for (const auto& column : spec.columns) {
    json["column"].push_back(ToJson(column));
    if (spec.vertical && column.kind != data::ColumnKind::kKey) json["column"].back()["party"] = column.party;
  }
  json["label"] = {{"column", spec.label.column}, {"values", spec.label.values}};
  json["label"]["aliases"] = Json::object();
  if (spec.vertical) json["label"]["party"] = spec.label.party;
  for (const auto& [alias, value] : spec.label.aliases) json["label"]["aliases"][alias] = value;
  return json;
}

Json ToJson(const ModelSpec& model) {
  Json json{{"loss", model.loss}, {"hidden", model.hidden}};
  if (model.hidden.empty()) return json;
  json["activation_bound"] = model.activation_bound;
  json["delta_bound"] = model.delta_bound;
  return json;
}

Json ToJson(const TrainingSpec& training) {
  Json json{{"steps", training.steps},
            {"expected_batch", training.expected_batch},
            {"max_batch_per_owner", training.max_batch_per_owner},
            {"learning_rate", training.learning_rate},
            {"schedule", training.schedule},
            {"momentum", training.momentum},
            {"clipping", training.clipping},
            {"logit_bound", training.logit_bound},
            {"truncation", training.truncation},
            {"comparison", training.comparison},
            {"checkpoint_every", training.checkpoint_every},
            {"steps_ahead", training.steps_ahead}};
  // Left out where it is what a job without it has, so that such jobs keep the hashes that they had before.
  if (training.lost_steps_max != DefaultLostSteps(training.steps))
    json["lost_steps_max"] = training.lost_steps_max;
  if (training.schedule == "step") {
    json["decay_every"] = training.decay_every;
    json["decay_factor"] = training.decay_factor;
  } else if (training.schedule != "constant") {
    json["final_rate"] = training.final_rate;
  }
  return json;
}

Json ToJson(const PrivacySpec& privacy) {
  Json json{{"delta", privacy.delta},
            {"against", privacy.against},
            {"clip", privacy.clip},
            {"accountant", privacy.accountant},
            {"sampling", privacy.sampling}};
  if (privacy.groups()) {
    json["unit"] = privacy.unit;
    json["group_column"] = privacy.group_column;
    json["max_group_rows"] = privacy.max_group_rows;
  }
  if (privacy.epsilon) json["epsilon"] = *privacy.epsilon;
  if (privacy.sigma) json["sigma"] = *privacy.sigma;
  return json;
}

Json ToJson(const DpsgdSettings& job) {
  Json json{{"version", 1},
            {"type", job.type},
            {"name", job.name},
            {"fraction_bits", job.fraction_bits},
            {"data", ToJson(job.data)},
            {"features", FeaturesJson(job.features)}};
  if (job.type != "dpsgd") return json;
  json["model"] = ToJson(job.model);
  json["training"] = ToJson(job.training);
  json["privacy"] = ToJson(job.privacy);
  json["initialisation"] = InitialisationJson(job.initialisation);
  json["release"] = {{"to", job.release.to}};
  if (job.evaluation) json["evaluation"] = EvaluationJson(*job.evaluation);
  return json;
}

}  // namespace

std::int64_t TrainedFeatures(const DpsgdSettings& job) {
  return data::ExtractedColumns(job.features.extraction, job.data.features);
}

std::string FeatureModelOf(const DpsgdSettings& job) {
  const auto& features = job.features.extraction;
  return features.method == data::FeatureMethod::kOnnx ? features.onnx.model_sha256 : "";
}

std::string DpsgdJson(const DpsgdSettings& job) { return ToJson(job).dump(); }

std::string DpsgdHash(const DpsgdSettings& job) { return Sha256Hex(DpsgdJson(job)); }

DpsgdSettings ParseDpsgdJson(const std::string& json, const std::string& source) {
  const auto table = TableOfJson(json, source);
  const auto type = table["type"].value<std::string>().value_or("");
  if (IsTypeWithSchema(type)) {
    CheckKeys(table, source, SchemaKeys());
    return ReadSchema(table, source, 16);
  }
  auto job = ReadJobTables(table, source);
  CheckJobRules(job, table, source);
  return job;
}

DpsgdSettings ReadDpsgdSettings(const std::filesystem::path& file,
                                const std::vector<std::string>& assignments) {
  auto table = ReadToml(file);
  for (const auto& assignment : assignments) SetValue(table, assignment);
  const auto name = file.string();
  auto job = ReadJobTables(table, name);
  CheckJobRules(job, table, name);
  return job;
}

dp::Promise PromiseOf(const DpsgdSettings& job) {
  const auto unit = job.data.vertical      ? dp::PrivacyUnit::kJointRecord
                    : job.privacy.groups() ? dp::PrivacyUnit::kGroup
                                           : dp::PrivacyUnit::kRecord;
  return {.unit = unit, .neighbours = dp::Neighbours::kAdded, .warnings = PrivacyWarnings(job)};
}

std::vector<std::string> PrivacyWarnings(const DpsgdSettings& job) {
  std::vector<std::string> warnings;
  if (job.data.vertical) {
    warnings.emplace_back(
        "data.partition \"vertical\": every party knows which records there are; the insider's epsilon is "
        "for one party's values in a known record against others, that of half of sigma, and the outsider's "
        "for a record against none");
  }
  if (job.privacy.groups()) {
    warnings.emplace_back(
        "privacy.unit \"group\": epsilon is for all rows of one owner with the same key; rows of that key at "
        "another owner are another group");
  }
  if (job.initialisation.selection == "as-published") {
    warnings.emplace_back(
        "initialisation.selection \"as-published\": the first model is chosen by accuracy on private records "
        "without noise, so that both epsilons are infinite; privacy.epsilon is that of all else");
  }
  if (job.initialisation.validates()) {
    warnings.push_back(
        "initialisation.selection \"public-validation\": the model is chosen by accuracy on party " +
        std::to_string(job.initialisation.validation_holder) +
        "'s validation records, which no epsilon of this run covers");
  }
  if (job.evaluation && !job.evaluation->sigma) {
    warnings.push_back("evaluation: the number of party " + std::to_string(job.evaluation->holder) +
                       "'s test records that are classified correctly is opened without noise, which no "
                       "epsilon of this run covers for those records");
  }
  return warnings;
}

}  // namespace trefoil::jobs
