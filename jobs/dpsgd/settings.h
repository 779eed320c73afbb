#pragma once
#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "data/dataset/spec.h"
#include "data/features/features.h"
#include "dp/record/promise.h"

namespace trefoil::jobs {

struct FeatureSpec {
  data::FeatureSpec extraction;  ///< what each party does to its own records before it shares them
  double row_norm = 1.0;         ///< public bound on the norm of a row, bias excluded
};

struct ModelSpec {
  std::string loss = "one-vs-rest";    ///< or "squared", "softmax"
  std::vector<std::int64_t> hidden{};  ///< sizes of hidden layers
  double activation_bound = 8;         ///< with hidden layers: where their outputs are cut
  double delta_bound = 4;              ///< and what goes back through them, entry by entry
};

struct TrainingSpec {
  std::int64_t steps = 0;
  double expected_batch = 0;
  std::int64_t max_batch_per_owner = 0;
  double learning_rate = 0;           ///< of the first step
  std::string schedule = "constant";  ///< or "linear", "cosine", "step"
  double final_rate = 0;              ///< linear, cosine: what is left at the end, a fraction
  std::int64_t decay_every = 1;       ///< step
  double decay_factor = 1;            ///< step
  double momentum = 0;
  std::string clipping = "factorised";
  double logit_bound = 64.0;
  std::string truncation = "stochastic";  ///< or "exact"
  std::string comparison = "auto";        ///< or the form: "bulk", "latency"
  std::int64_t checkpoint_every = 0;      ///< 0: no checkpoints
  std::int64_t lost_steps_max = 0;        ///< beyond it no second session from one checkpoint
  std::int64_t steps_ahead = 2;           ///< 0: batches and dealt material are sent in line
};

/// Exactly one of epsilon and sigma is present.
struct PrivacySpec {
  std::optional<double> epsilon;
  std::optional<double> sigma;  ///< noise multiplier
  double delta = 0;
  std::string against = "insider";  ///< or "outsider"
  double clip = 0;
  std::string accountant = "rdp";          ///< or "pld", "pea"
  std::string sampling = "owner-poisson";  ///< or "public"
  std::string unit = "record";             ///< or "group": all rows of one owner with the same key
  std::string group_column{};              ///< "group": the column of keys
  std::int64_t max_group_rows = 1;         ///< "group": more rows with one key are an error

  [[nodiscard]] bool groups() const { return unit == "group"; }
};

/// How the first weights are made. But for the method, only the keys that it has are read and written.
struct InitialisationSpec {
  std::string method = "none";  ///< or "averaging", "accuracy"
  std::int64_t steps = 0;       ///< of each party's local training, as all keys down to delta
  double expected_batch = 0;    ///< of a party with a third of all rows
  double learning_rate = 0;
  double clip = 0;
  std::optional<double> epsilon{};  ///< exactly one of epsilon and sigma
  std::optional<double> sigma{};
  double delta = 0;
  std::string selection =
      "noisy";                ///< or "as-published", "public-validation"; of method "accuracy", as all below
  double selection_rows = 0;  ///< that a party with a third of all rows shares for it, on average
  double selection_sigma = 0;
  int validation_holder = 0;  ///< with "public-validation": who holds the validation records
  std::int64_t validation_rows = 0;

  /// Whether candidates are compared on validation records.
  [[nodiscard]] bool validates() const { return selection == "public-validation"; }
};

/// Test records that one party holds, and who learns how many of them the model classifies correctly.
struct EvaluationSpec {
  int holder = 0;
  std::int64_t rows = 0;  ///< exactly so many
  std::vector<int> to{0, 1, 2};
  std::optional<double> sigma{};  ///< noise multiplier of the count; none: exact
};

struct ReleaseSpec {
  std::vector<int> to{0, 1, 2};  ///< none: the model stays in shares
};

/// How `local` cuts one data set into three. Not part of the job's hash.
struct LocalSpec {
  std::string split = "even";                        ///< "even" or "sorted", where no fractions are given
  std::optional<std::array<double, 3>> fractions{};  ///< contiguous shares of the rows
};

/// A job file, checked, with every default filled in (docs/reference/formats.md). Where the type is not
/// "dpsgd", its schema alone (jobs/dpsgd/settings_reader.h): what another job's model needs to be applied.
struct DpsgdSettings {
  std::string name;
  std::string type = "dpsgd";
  int fraction_bits = 16;
  data::DataSpec data;
  FeatureSpec features;
  ModelSpec model;
  TrainingSpec training;
  PrivacySpec privacy;
  InitialisationSpec initialisation;
  std::optional<EvaluationSpec> evaluation;
  ReleaseSpec release;
  LocalSpec local;
};

/// Reads a job file, applies the `--set` assignments in order, and checks it whole; opens no data.
/// Throws ConfigError with one line: place, key, what was found, what was expected.
[[nodiscard]] DpsgdSettings ReadDpsgdSettings(const std::filesystem::path& file,
                                              const std::vector<std::string>& assignments = {});

/// The job that DpsgdJson wrote; `source` names it in errors. Throws ConfigError as ReadDpsgdSettings.
[[nodiscard]] DpsgdSettings ParseDpsgdJson(const std::string& json, const std::string& source);

/// Columns of the matrix that is trained on, bias excluded: data.features, or what [features] makes of them.
[[nodiscard]] std::int64_t TrainedFeatures(const DpsgdSettings& job);

/// SHA-256 of the ONNX model that [features] want; empty where they want none.
[[nodiscard]] std::string FeatureModelOf(const DpsgdSettings& job);

/// The job as compact JSON, keys sorted, all defaults filled in, without [local]: what the parties compare
/// and hash.
[[nodiscard]] std::string DpsgdJson(const DpsgdSettings& job);

/// SHA-256 of DpsgdJson, in lower-case hexadecimal.
[[nodiscard]] std::string DpsgdHash(const DpsgdSettings& job);

/// The job as a TOML file with all defaults filled in, [local] included; ReadDpsgdSettings reads the same job back.
[[nodiscard]] std::string DpsgdToml(const DpsgdSettings& job);

/// [local] as compact JSON.
[[nodiscard]] std::string LocalSpecJson(const LocalSpec& local);

/// Whom the job's epsilons are for, as its record says.
[[nodiscard]] dp::Promise PromiseOf(const DpsgdSettings& job);

/// What the job's epsilon does not cover though a user would think so, one line each, for the user and the
/// summary.
[[nodiscard]] std::vector<std::string> PrivacyWarnings(const DpsgdSettings& job);

}  // namespace trefoil::jobs
