#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "dp/record/promise.h"
#include "jobs/records/schema.h"
#include "ml/plan/settings.h"

namespace trefoil::jobs {

/// Numbers, one a class, or none, which are all 1; or such that follow from noisy counts of the classes.
struct ClassWeightsSpec {
  bool balanced = false;
  std::vector<double> given{};

  friend bool operator==(const ClassWeightsSpec&, const ClassWeightsSpec&) = default;
};

struct ModelSpec {
  ml::Loss loss = ml::Loss::kOneVsRest;
  double huber_threshold = 0;          ///< kHuber: in the target's own units
  std::vector<std::int64_t> hidden{};  ///< sizes of hidden layers
  double activation_bound = 8;         ///< with hidden layers: where their outputs are cut
  double delta_bound = 4;              ///< and what goes back through them, entry by entry
  double threshold = 0.5;              ///< two classes: of the prediction for class 1
  ClassWeightsSpec class_weights{};
  double class_counts_sigma = 10;  ///< balanced: noise multiplier of the counts
};

struct TrainingSpec {
  std::int64_t steps = 0;
  double expected_batch = 0;
  std::int64_t max_batch_per_owner = 0;
  double learning_rate = 0;  ///< of the first step
  ml::RateSchedule schedule;
  double momentum = 0;
  ml::Clipping clipping = ml::Clipping::kFactorised;
  std::optional<int> error_fraction_bits{};  ///< empty: fraction_bits
  double logit_bound = 64.0;
  protocols::Rounding truncation = protocols::Rounding::kStochastic;
  std::optional<protocols::Form> comparison{};  ///< empty: the faster on links and machines as measured
  std::int64_t checkpoint_every = 0;            ///< 0: no checkpoints
  std::int64_t lost_steps_max = 0;              ///< beyond it no second session from one checkpoint
  std::int64_t steps_ahead = 2;                 ///< 0: batches and dealt material are sent in line
};

/// Exactly one of epsilon and sigma is present.
struct PrivacySpec {
  std::optional<double> epsilon;
  std::optional<double> sigma;  ///< noise multiplier
  double delta = 0;
  ml::Adversary against = ml::Adversary::kInsider;
  double clip = 0;                                  ///< of an adaptive clip the first
  std::optional<ml::AdaptiveClip> adaptive_clip{};  ///< empty: the clip is fixed
  dp::AccountantKind accountant = dp::AccountantKind::kRdp;
  ml::Sampling sampling = ml::Sampling::kOwnerPoisson;
  dp::PrivacyUnit unit = dp::PrivacyUnit::kRecord;  ///< or kGroup: all rows of one owner with the same key
  std::string group_column{};                       ///< kGroup: the column of keys
  std::int64_t max_group_rows = 1;                  ///< kGroup: more rows with one key are an error

  [[nodiscard]] bool groups() const { return unit == dp::PrivacyUnit::kGroup; }
};

struct ReleaseSpec {
  std::vector<int> to{0, 1, 2};  ///< none: the model stays in shares
};

/// A job of type "dpsgd", checked, with every default filled in (docs/reference/formats.md).
struct DpsgdSettings : RecordSchema {
  ModelSpec model;
  TrainingSpec training;
  PrivacySpec privacy;
  std::optional<ml::InitialisationSettings> initialisation;
  std::optional<ml::EvaluationSettings> evaluation;
  ReleaseSpec release;
  LocalSpec local;

  /// Whether the first weights are chosen by accuracy, in this way.
  [[nodiscard]] bool selects(ml::Selection how) const {
    return initialisation && initialisation->method == ml::InitialisationMethod::kAccuracy &&
           initialisation->selection == how;
  }
};

/// The values of privacy.sampling.
[[nodiscard]] const OneOf<ml::Sampling>& Samplings();

/// The keys of such a job.
void Fields(FieldVisitor& v, DpsgdSettings& s);
/// [model], [training] and [privacy] of them, and what rules make of "auto".
void TrainingTables(FieldVisitor& v, DpsgdSettings& s);

/// Reads a job file, applies the `--set` assignments in order, and checks it whole; opens no data.
/// Throws ConfigError with one line: place, key, what was found, what was expected.
[[nodiscard]] DpsgdSettings ReadDpsgdSettings(const std::filesystem::path& file,
                                              const std::vector<std::string>& assignments = {});

/// The same of a document that has been parsed; `file` names it in errors.
[[nodiscard]] DpsgdSettings ReadDpsgdTable(const toml::table& root, const std::string& file);

/// The job that DpsgdJson wrote; `source` names it in errors. Throws ConfigError as ReadDpsgdSettings.
[[nodiscard]] DpsgdSettings ParseDpsgdJson(const std::string& json, const std::string& source);

/// The job as compact JSON, keys sorted, all defaults filled in, without [local]: what the parties compare
/// and hash.
[[nodiscard]] std::string DpsgdJson(const DpsgdSettings& job);

/// SHA-256 of DpsgdJson, in lower-case hexadecimal.
[[nodiscard]] std::string DpsgdHash(const DpsgdSettings& job);

/// Whom the job's epsilons are for, as its record says.
[[nodiscard]] dp::Promise PromiseOf(const DpsgdSettings& job);

/// What the job's epsilon does not cover though a user would think so, one line each, for the user and the
/// summary.
[[nodiscard]] std::vector<std::string> PrivacyWarnings(const DpsgdSettings& job);

}  // namespace trefoil::jobs
