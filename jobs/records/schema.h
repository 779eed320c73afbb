#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "data/dataset/spec.h"
#include "data/features/features.h"
#include "jobs/config/fields.h"
#include "jobs/statistics/spec.h"

namespace trefoil::jobs {

/// Whether the means and scales of columns of numbers, or the means of extracted features, come from the
/// records themselves (docs/explanation/privacy.md, "Standardised features"), and what that may tell.
struct StandardiseSpec {
  bool on = false;
  std::optional<double> sigma{};        ///< noise multiplier; empty: by `share`
  double share = 0.1;                   ///< of the job's epsilon: what the sum may take by itself
  std::optional<double> range_sigma{};  ///< of the counts by which private ranges are found; as sigma
  double range_share = 0.2;             ///< likewise; as share
};

struct FeatureSpec {
  data::FeatureSpec extraction;   ///< what each party does to its own records before it shares them
  double row_norm = 1.0;          ///< public bound on the norm of a row, bias excluded
  StandardiseSpec standardise{};  ///< of type "dpsgd"; never of a released model's records
  /// Of extracted features, of type "dpsgd": subtracted from rows of length row_norm, which are scaled to it
  /// again; empty: none.
  std::vector<double> means{};
  std::optional<int> fraction_bits{};  ///< of type "dpsgd": of rows in its steps; empty: the schema's
};

/// How `local` cuts one data set into three. Not part of the job's hash.
struct LocalSpec {
  bool sorted = false;  ///< stably by label, contiguous thirds; else row i to party i mod 3
  std::optional<std::array<double, 3>> fractions{};  ///< in place of both: contiguous shares of the rows

  friend bool operator==(const LocalSpec&, const LocalSpec&) = default;
};

/// What becomes of deposits whose population has no budget left for the job at one of the parties.
enum class CappedDeposits { kEnd, kLeaveOut };

/// Batches that owners draw and deposit for one run of one job: what an owner is told of them.
struct BatchSpec {
  std::string job{};  ///< SHA-256 of the job's Json() without data.study, in lower-case hexadecimal
  std::string run{};  ///< the job's name for the run
  std::int64_t steps = 0;
  std::int64_t rows = 0;      ///< of each step's batch in one deposit, padding included
  double sampling_rate = 0;   ///< with which each record is in a batch
  std::int64_t records = 0;   ///< that one deposit is drawn from, at most
  std::int64_t deposits = 0;  ///< that the run has room for
};

/// A store of what owners deposited who run no party, in place of records of the parties' own.
struct StoreSpec {
  bool on = false;
  std::string study{};            ///< the id of the deposits' study; empty: the job does not say yet
  std::string purpose = "train";  ///< of the deposits
  const char* table = "data";     ///< of the job file, that says so
  CappedDeposits capped = CappedDeposits::kEnd;
  std::optional<std::int64_t> memory{};  ///< MiB that rows may take at once, which lie on disk then
  std::optional<BatchSpec> batches{};    ///< where owners deposit batches in place of their records
};

/// Whether deposits of this purpose are rows to predict, whose labels say nothing: "predict", and what begins
/// with "predict-".
[[nodiscard]] bool IsToPredict(const std::string& purpose);

/// What a job makes of its records, which decides what its keys may say of them.
enum class RecordUse {
  kOther,
  kCompared,  ///< trainings with several settings: without extraction row_norm is "auto" unless it is given
  kTrained,   ///< one training: likewise, and records may have weights, steps other bits, features means
};

/// Rows that are vectors to be added up, as files have them.
struct PlainVectors {};

/// What records are and what is made of them before they are shared: what any type of job may declare, and
/// what a model needs to be applied.
struct RecordSchema {
  std::string name;  ///< of the job
  std::string type;  ///< of the job
  RecordUse use = RecordUse::kOther;
  int fraction_bits = 16;
  data::DataSpec data;
  FeatureSpec features;
  StoreSpec store{};  ///< where it is on, data.rows is {the capacities of all deposits, 0, 0}
  /// Of deposits that are added up (jobs/deposited_vectors.h): then rows have `data.features` numbers and no
  /// label, whatever else is said of data and features. At most one of both.
  std::optional<PlainVectors> vectors{};
  std::optional<StatisticsSpec> statistics{};  ///< the vectors are made of records of this kind

  [[nodiscard]] bool added_up() const { return vectors || statistics; }
};

/// The keys of a schema alone, as files have it beside a model whose job says no more of it.
void Fields(FieldVisitor& v, RecordSchema& s);

/// Columns of the matrix that is computed on, bias excluded: data.features, or what [features] makes of them.
[[nodiscard]] std::int64_t TrainedFeatures(const RecordSchema& schema);

/// SHA-256 of the ONNX model that [features] want; empty where they want none.
[[nodiscard]] std::string FeatureModelOf(const RecordSchema& schema);

}  // namespace trefoil::jobs
