#include "jobs/dpsgd/settings_reader.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

#include "base/error.h"
#include "jobs/config/feature_reader.h"
#include "jobs/config/party_list.h"
#include "jobs/dpsgd/evaluation_reader.h"
#include "jobs/dpsgd/initialisation_reader.h"
#include "jobs/job.h"

namespace trefoil::jobs {
namespace {

using Names = std::vector<std::string>;

constexpr Interval kPositive{.above = 0.0, .below = {}};
constexpr Interval kAnyNumber{};

const Names& DataKeys() {
  static const Names keys{"version",
                          "type",
                          "name",
                          "fraction_bits",
                          "data.name",
                          "data.format",
                          "data.partition",
                          "data.rows",
                          "data.features",
                          "data.classes",
                          "data.scale",
                          "data.header",
                          "data.missing",
                          "data.column.name",
                          "data.column.kind",
                          "data.column.mean",
                          "data.column.scale",
                          "data.column.values",
                          "data.column.party",
                          "data.label.column",
                          "data.label.values",
                          "data.label.party",
                          "data.label.aliases.*"};
  return keys;
}

const Names& TrainingKeys() {
  static const Names keys{"model.loss",
                          "model.hidden",
                          "model.activation_bound",
                          "model.delta_bound",
                          "training.steps",
                          "training.expected_batch",
                          "training.max_batch_per_owner",
                          "training.learning_rate",
                          "training.schedule",
                          "training.final_rate",
                          "training.decay_every",
                          "training.decay_factor",
                          "training.momentum",
                          "training.clipping",
                          "training.logit_bound",
                          "training.truncation",
                          "training.comparison",
                          "training.checkpoint_every",
                          "training.lost_steps_max",
                          "training.steps_ahead",
                          "privacy.epsilon",
                          "privacy.sigma",
                          "privacy.delta",
                          "privacy.against",
                          "privacy.clip",
                          "privacy.accountant",
                          "privacy.sampling",
                          "privacy.unit",
                          "privacy.group_column",
                          "privacy.max_group_rows",
                          "release.to",
                          "local.split"};
  return keys;
}

const Names& KnownKeys() {
  static const Names keys = [] {
    auto all = SchemaKeys();
    all.insert(all.end(), TrainingKeys().begin(), TrainingKeys().end());
    all.insert(all.end(), InitialisationKeys().begin(), InitialisationKeys().end());
    all.insert(all.end(), EvaluationKeys().begin(), EvaluationKeys().end());
    return all;
  }();
  return keys;
}

/// Who holds a column or the label: a key of vertical partitions only.
int ReadParty(const Section& section, bool vertical) {
  if (vertical) return static_cast<int>(section.Whole("party", {0, 2}));
  if (section.Has("party")) section.Fail("party", "only data.partition \"vertical\" has it");
  return 0;
}

data::Column ReadColumn(const Section& section, bool vertical) {
  data::Column column;
  column.name = section.Text("name");
  const auto kind =
      section.Choice("kind", {"number", "category", "text", "ignore", "key", "weight"}, "number");
  if (kind == "weight") {
    section.Fail(
        "kind",
        fmt::format("column \"{}\": examples have no weights, which would multiply what a record may add "
                    "to a sum; expected kind \"ignore\", or rows left out",
                    column.name));
  }
  const auto belongs_to = [&](const char* key, const char* wanted) {
    if (section.Has(key) && kind != wanted) {
      section.Fail(key, fmt::format("column \"{}\" is of kind \"{}\"; only kind \"{}\" has it", column.name,
                                    kind, wanted));
    }
  };
  for (const auto* key : {"mean", "scale"}) belongs_to(key, "number");
  belongs_to("values", "category");
  if (kind == "number") {
    column.kind = data::ColumnKind::kNumber;
    column.mean = section.Number("mean", kAnyNumber, 0.0);
    column.scale = section.Number("scale", kPositive, 1.0);
  } else if (kind == "category") {
    column.kind = data::ColumnKind::kCategory;
    column.values = section.Texts("values");
  } else if (kind == "text") {
    column.kind = data::ColumnKind::kText;
  } else {
    column.kind = kind == "key" ? data::ColumnKind::kKey : data::ColumnKind::kIgnore;
  }
  if (kind == "key" && section.Has("party")) section.Fail("party", "all parties hold the key");
  if (kind != "key") column.party = ReadParty(section, vertical);
  return column;
}

data::Label ReadLabel(const Section& section, bool vertical) {
  data::Label label;
  label.column = section.Text("column");
  label.values = section.Texts("values");
  const auto aliases = section.Table("aliases");
  for (const auto& alias : aliases.Keys()) label.aliases[alias] = aliases.Text(alias);
  label.party = ReadParty(section, vertical);
  return label;
}

void ReadCsv(const Section& section, data::DataSpec& spec) {
  if (section.Has("scale")) section.Fail("scale", "each [[data.column]] has its own scale in format \"csv\"");
  spec.header = section.Flag("header", true);
  spec.missing = section.Text("missing", "?");
  spec.vertical = section.Choice("partition", {"horizontal", "vertical"}, "horizontal") == "vertical";
  for (const auto& column : section.Tables("column"))
    spec.columns.push_back(ReadColumn(column, spec.vertical));
  if (spec.columns.empty()) section.Refuse("column", "one [[data.column]] for each column of the file");
  spec.label = ReadLabel(section.Table("label"), spec.vertical);
}

data::DataSpec ReadData(const Section& section) {
  data::DataSpec spec;
  spec.name = section.Name("name");
  const auto format = section.Choice("format", {"idx", "csv", "npy", "npz"});
  spec.rows = ReadRows(section);
  spec.classes = static_cast<int>(section.Whole("classes", {2, 1000}));
  if (format == "csv") {
    spec.format = data::Format::kCsv;
    ReadCsv(section, spec);
    spec.features = section.Whole("features", {0, 1'000'000}, data::CountFeatures(spec));
    return spec;
  }
  for (const auto* key : {"header", "missing", "column", "label"}) {
    if (section.Has(key))
      section.Fail(key, fmt::format("only format \"csv\" has it, and data.format is \"{}\"", format));
  }
  if (section.Choice("partition", {"horizontal", "vertical"}, "horizontal") == "vertical")
    section.Fail("partition",
                 "found \"vertical\", which has a key column, expected data.format \"csv\" with it");
  spec.format = format == "idx"   ? data::Format::kIdx
                : format == "npy" ? data::Format::kNpy
                                  : data::Format::kNpz;
  spec.features = section.Whole("features", {1, 1'000'000});
  spec.scale = section.Number("scale", kPositive, 1.0);
  return spec;
}

ModelSpec ReadModel(const Section& section) {
  ModelSpec model;
  model.loss = section.Choice("loss", {"one-vs-rest", "squared", "softmax"}, "one-vs-rest");
  model.hidden =
      section.Wholes("hidden", {1, 100'000}, "an array of layer sizes", std::vector<std::int64_t>{});
  for (const auto* key : {"activation_bound", "delta_bound"}) {
    if (section.Has(key) && model.hidden.empty())
      section.Fail(key, "only hidden layers have it, and model.hidden is empty");
  }
  if (model.hidden.empty()) return model;
  model.activation_bound = section.Number("activation_bound", kPositive, model.activation_bound);
  model.delta_bound = section.Number("delta_bound", kPositive, model.delta_bound);
  return model;
}

/// A number from 0 to below 1, or to 1.
double ReadFraction(const Section& section, std::string_view key, bool with_one) {
  const double value = section.Number(key, kAnyNumber, 0.0);
  if (value < 0 || value > 1 || (value == 1 && !with_one))
    section.Refuse(key, with_one ? "a number from 0 to 1" : "a number from 0 to below 1");
  return value;
}

/// The keys of the schedule that is chosen, and none of another's.
void ReadSchedule(const Section& section, TrainingSpec& training) {
  training.schedule = section.Choice("schedule", {"constant", "linear", "cosine", "step"}, "constant");
  const bool steps = training.schedule == "step";
  const bool falls = training.schedule == "linear" || training.schedule == "cosine";
  const auto belongs_to = [&](const char* key, bool chosen, const char* owners) {
    if (section.Has(key) && !chosen) {
      section.Fail(
          key, fmt::format("only training.schedule {} has it, which is \"{}\"", owners, training.schedule));
    }
  };
  belongs_to("final_rate", falls, "\"linear\" or \"cosine\"");
  for (const auto* key : {"decay_every", "decay_factor"}) belongs_to(key, steps, "\"step\"");
  if (falls) training.final_rate = ReadFraction(section, "final_rate", true);
  if (steps) {
    training.decay_every = section.Whole("decay_every", {1, 10'000'000});
    training.decay_factor = section.Number("decay_factor", {.above = 0.0, .below = 1.0});
  }
}

TrainingSpec ReadTraining(const Section& section) {
  TrainingSpec training;
  training.steps = section.Whole("steps", {1, ml::kLargestSteps});
  training.expected_batch = section.Number("expected_batch", kPositive);
  training.max_batch_per_owner = section.Whole("max_batch_per_owner", {1, 10'000'000});
  training.learning_rate = section.Number("learning_rate", kPositive);
  ReadSchedule(section, training);
  training.momentum = ReadFraction(section, "momentum", false);
  training.clipping = section.Choice("clipping", {"factorised", "published", "examples"}, "factorised");
  training.logit_bound = section.Number("logit_bound", kPositive, 64.0);
  training.truncation = section.Choice("truncation", {"stochastic", "exact"}, "stochastic");
  training.comparison = section.Choice("comparison", {"auto", "bulk", "latency"}, "auto");
  training.checkpoint_every = section.Whole("checkpoint_every", {0, 10'000'000}, 0);
  training.lost_steps_max =
      section.Whole("lost_steps_max", {0, 1'000'000'000}, DefaultLostSteps(training.steps));
  training.steps_ahead = section.Whole("steps_ahead", {0, 1'000}, 2);
  return training;
}

PrivacySpec ReadPrivacy(const Section& section) {
  PrivacySpec privacy;
  if (section.Has("epsilon") && section.Has("sigma")) {
    section.Fail("sigma", "privacy.epsilon is given too, expected only one of them");
  }
  if (section.Has("sigma")) {
    privacy.sigma = section.Number("sigma", kPositive);
  } else if (section.Has("epsilon")) {
    privacy.epsilon = section.Number("epsilon", kPositive);
  } else {
    section.Refuse("epsilon", "privacy.epsilon, or privacy.sigma (the noise multiplier), above 0");
  }
  privacy.delta = section.Number("delta", {.above = 0.0, .below = 1.0});
  privacy.against = section.Choice("against", {"insider", "outsider"}, "insider");
  privacy.clip = section.Number("clip", kPositive);
  privacy.accountant = section.Choice("accountant", {"rdp", "pld", "pea"}, "rdp");
  privacy.sampling = section.Choice("sampling", {"owner-poisson", "public"}, "owner-poisson");
  privacy.unit = section.Choice("unit", {"record", "group"}, "record");
  if (privacy.groups()) {
    privacy.group_column = section.Text("group_column");
    privacy.max_group_rows = section.Whole("max_group_rows", {1, ml::kMostGroupRows});
    return privacy;
  }
  for (const auto* key : {"group_column", "max_group_rows"}) {
    if (section.Has(key)) section.Fail(key, "only privacy.unit \"group\" has it, which is \"record\"");
  }
  return privacy;
}

/// version, name, fraction_bits, [data] and [features].
void ReadRecords(const Section& document, int default_fraction_bits, DpsgdSettings& job) {
  if (document.Whole("version", {0, INT32_MAX}) != 1) document.Refuse("version", "1");
  job.name = document.Name("name");
  job.fraction_bits = static_cast<int>(document.Whole("fraction_bits", {8, 24}, default_fraction_bits));
  job.data = ReadData(document.Table("data"));
  job.features = ReadFeatures(document.Table("features"), job.data);
  job.data.image = job.features.extraction.image;
}

}  // namespace

bool IsTypeWithSchema(const std::string& type) {
  const auto& types = RegisteredTypes();
  return type != "dpsgd" && type != "predict" && std::find(types.begin(), types.end(), type) != types.end();
}

const Names& SchemaKeys() {
  static const Names keys = [] {
    auto all = DataKeys();
    all.insert(all.end(), FeatureKeys().begin(), FeatureKeys().end());
    return all;
  }();
  return keys;
}

DpsgdSettings ReadSchema(const toml::table& root, const std::string& file, int default_fraction_bits) {
  const Section document(root, file);
  DpsgdSettings job;
  job.type = document.Text("type");
  ReadRecords(document, default_fraction_bits, job);
  const auto data = document.Table("data");
  if (job.data.vertical) data.Refuse("partition", "\"horizontal\" in a job of this type");
  CheckDataRules(job.data, data);
  return job;
}

std::array<std::int64_t, 3> ReadRows(const Section& section) {
  const auto rows = section.Wholes("rows", {0, 1'000'000'000}, "three whole numbers from 0 to 1000000000");
  std::array<std::int64_t, 3> capacities{};
  if (rows.size() != capacities.size()) section.Refuse("rows", "three whole numbers, one for each party");
  std::copy(rows.begin(), rows.end(), capacities.begin());
  return capacities;
}

dp::AccountantKind ReadTaskAccountant(const Section& privacy) {
  return dp::AccountantNamed(privacy.Choice("accountant", {"pld", "rdp"}, "pld"));
}

LocalSpec ReadLocal(const Section& section, const toml::table& root) {
  const auto split = root.at_path("local.split");
  if (!split.is_array()) return {.split = section.Choice("split", {"even", "sorted"}, "even")};
  const std::string expected = "\"even\", \"sorted\" or three fractions above 0 that add up to at most 1";
  const auto fractions = section.Numbers("split", {.above = 0.0, .below = 1.0});
  if (fractions.size() != 3 || fractions[0] + fractions[1] + fractions[2] > 1.0 + 1e-9)
    section.Refuse("split", expected);
  return {.split = "fractions", .fractions = std::array{fractions[0], fractions[1], fractions[2]}};
}

DpsgdSettings ReadJobTables(const toml::table& root, const std::string& file) {
  const Section document(root, file);
  // Before its keys, which are others.
  if (root["type"].value<std::string>() == "predict")
    document.Fail("type",
                  "found a prediction, expected a training, type \"dpsgd\"; run, local and check take both");
  const auto type = root["type"].value<std::string>().value_or("");
  if (IsTypeWithSchema(type))
    document.Fail("type",
                  fmt::format("found \"{}\", expected a training, type \"dpsgd\"; run, local, plan and check "
                              "take both",
                              type));
  CheckKeys(root, file, KnownKeys());
  DpsgdSettings job;
  job.type = document.Choice("type", RegisteredTypes());
  ReadRecords(document, 16, job);
  job.model = ReadModel(document.Table("model"));
  job.training = ReadTraining(document.Table("training"));
  job.privacy = ReadPrivacy(document.Table("privacy"));
  job.initialisation = ReadInitialisation(document.Table("initialisation"), job.privacy);
  job.evaluation = ReadEvaluation(document.Table("evaluation"));
  job.release.to = ReadParties(document.Table("release"), "to", true);
  job.local = ReadLocal(document.Table("local"), root);
  return job;
}

}  // namespace trefoil::jobs
