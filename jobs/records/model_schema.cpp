#include "jobs/records/model_schema.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "jobs/config/common_fields.h"
#include "jobs/job.h"
#include "ml/plan/step_plan.h"

namespace trefoil::jobs {
namespace {

/// Whether a document has no table but those of a schema; a job of any type has others, too.
bool IsSchemaAlone(const toml::table& document) {
  constexpr const char* kTables[] = {"data", "features"};
  return std::all_of(document.begin(), document.end(), [&](const auto& entry) {
    return !entry.second.is_table() ||
           std::find(std::begin(kTables), std::end(kTables), entry.first.str()) != std::end(kTables);
  });
}

}  // namespace

ModelSchema LinearModelSchema(RecordSchema records, LogitMeaning logits) {
  ModelSchema model{.records = std::move(records), .classifier = {}, .json = {}, .logits = logits};
  auto& settings = model.classifier;
  settings.fraction_bits = model.records.fraction_bits;
  settings.rows = model.records.data.rows;
  settings.features = TrainedFeatures(model.records);
  settings.classes = model.records.data.classes;
  settings.targets = model.records.data.target.has_value();
  // What is fitted to a class, 0 or 1, is its logit plus 1/2, as of a training's squared loss.
  if (settings.targets || logits == LogitMeaning::kShare) settings.loss = ml::Loss::kSquared;
  settings.row_norm = model.records.features.row_norm;
  settings.clipping = ml::Clipping::kExamples;
  settings.steps = 1;
  settings.expected_batch = 1;
  settings.max_batch_per_owner = 1;
  settings.learning_rate = 1;
  settings.clip = 1;
  settings.release_to = {};
  model.json = HashedJson(model.records);
  return model;
}

ModelSchema ParseModelSchema(const std::string& json, const std::string& source, JobTypes types) {
  const auto document = TableOfJson(json, source);
  const auto name = Section(document, source).Choice("type", NamesOf(types));
  if (IsSchemaAlone(document)) {
    RecordSchema records;
    records.type = name;
    ReadFields(document, source, records);
    const auto type =
        std::find_if(types.begin(), types.end(), [&](const JobType& one) { return name == one.name; });
    return LinearModelSchema(std::move(records), type->logits);
  }
  const auto job = ParseJob(json, source, types);
  if (auto model = job->Model()) return *std::move(model);
  throw ConfigError(
      fmt::format("{}: type: found \"{}\", expected a job that makes a model", source, job->type()));
}

void SetThreshold(ModelSchema& schema, double threshold, const char* key) {
  if (!(threshold >= ml::kMinThreshold && threshold <= 1 - ml::kMinThreshold)) {
    throw ConfigError(
        fmt::format("{}: found {}, expected a number from 0.000001 to 0.999999", key, threshold));
  }
  if (schema.records.data.target || schema.records.data.classes != 2)
    throw ConfigError(fmt::format("{}: found a model of another kind, expected one of two classes", key));
  if (schema.logits == LogitMeaning::kVotes)
    throw ConfigError(
        fmt::format("{}: found the student of a job of type \"{}\", whose logits predict no "
                    "share, expected a model of another type",
                    key, schema.records.type));
  schema.classifier.threshold = threshold;
}

void RequireClassifier(const ModelSchema& schema, const char* row_norm_key) {
  try {
    // Links decide by which form they classify.
    for (const auto form : {protocols::Form::kBulk, protocols::Form::kLatency})
      (void)ml::MakeStepPlan(schema.classifier, form);
  } catch (const ConfigError&) {  // which may name keys of a training: LinearModelSchema() makes them up
    throw ConfigError(fmt::format(
        "release.to: found [], expected a party, or fewer fraction_bits than {} or a smaller {} than {}: no "
        "prediction could be made by the model's shares",
        schema.records.fraction_bits, row_norm_key, schema.records.features.row_norm));
  }
}

void RequireLogitsInRing(double weight_norm, double row_norm, int fraction_bits) {
  const double logit = std::ldexp(weight_norm * std::hypot(row_norm, 1.0), fraction_bits);
  if (!(logit < 0x1p62))
    throw ConfigError(
        fmt::format("release.to: found [], expected a party, or fraction_bits below {}: logits of such "
                    "weights could leave the ring",
                    fraction_bits));
}

}  // namespace trefoil::jobs
