#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "jobs/records/schema.h"
#include "ml/dpsgd/training.h"

namespace trefoil::jobs {

/// What the owner of a party's records should know of them and the job, a line each: declared classes,
/// categories and bins that no row has; less than half of the rows that the job declares for the party; and
/// rows at features.row_norm, to which longer ones are shortened: a tenth of them, or half where the norm is
/// not below the rule's or a table has more than 32 features. Each line ends with what acting on it in a
/// public job would tell the others. All depend on the data: for the owner's eyes alone. `own` is what
/// LoadOwnRecords() gave. Time: of reading it once; features that stay in their file are not looked at.
[[nodiscard]] std::vector<std::string> OwnerWarnings(const RecordSchema& schema, int party,
                                                     const ml::OwnRecords& own);

/// Those of them that are of categories and bins; of columns whose unknown values are missing also in how
/// many rows they are, where it is a tenth (with `fill` only of those that have an indicator: else nothing
/// tells them apart). `x`: rows as the spec's columns make them, with nothing extracted.
[[nodiscard]] std::vector<std::string> ValueWarnings(const data::DataSpec& spec, const data::Matrix& x);

/// That of the number of rows alone.
[[nodiscard]] std::vector<std::string> RowsWarning(std::int64_t declared, std::int64_t found);

/// Those of them that need no features: of the number of rows, and of the classes of each.
[[nodiscard]] std::vector<std::string> OwnerWarnings(const RecordSchema& schema, int party,
                                                     const std::vector<int>& classes);

/// What a column's records have.
struct ValueCounts {
  std::int64_t records = 0;
  std::vector<std::int64_t> of_values{};  ///< how many have each of the declared values
};

/// Of records of which each has one of `values`, or none: less than half of `declared`, values that none has,
/// and, where it is a tenth of them at least, how many have none.
[[nodiscard]] std::vector<std::string> OwnerWarnings(std::int64_t declared,
                                                     const std::vector<std::string>& values,
                                                     const ValueCounts& found);

/// Whether the released model takes all of this party's records for one class, though they are not of one: a
/// line, or none. For the owner's eyes alone, as above, and with what acting on it would tell. `own`: records
/// that are held whole, of one owner or several; nothing of targets, and of features that stay in their file.
/// `mend`: a job that would do better. `decision`: as of ClassOf. Time: of classifying them once.
[[nodiscard]] std::vector<std::string> OneClassWarning(const RecordSchema& schema, const ml::Model& model,
                                                       std::span<const ml::OwnRecords> own,
                                                       const std::string& mend, double decision = 0);

/// The mend of a training, and that of a type of job that has no class weights.
inline constexpr const char* kWeighClasses = "a job with model.class_weights, or another model.threshold,";
inline constexpr const char* kTrainWithWeights = "a training with model.class_weights in place of this job";

/// How many of the records repeat an earlier one, if any do; of whole rows alone. The owner's affair: in its
/// own log, and nowhere else. `own` and time as above.
[[nodiscard]] std::vector<std::string> RepeatedRows(const RecordSchema& schema, const ml::OwnRecords& own);

}  // namespace trefoil::jobs
