#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "jobs/records/schema.h"
#include "ml/dpsgd/training.h"

namespace trefoil::jobs {

/// What the owner of a party's records should know of them and the job, a line each: declared classes and categories
/// that no row has; less than half of the rows that the job declares for the party; and, of at most 32 features, at
/// least a tenth of the rows at features.row_norm, to which longer ones are shortened. Each line ends with what acting
/// on it in a public job would tell the others. All depend on the data: for the owner's eyes alone.
/// `own` is what LoadOwnRecords() gave. Time: of reading it once; features that stay in their file are not looked at.
[[nodiscard]] std::vector<std::string> OwnerWarnings(const RecordSchema& schema, int party,
                                                     const ml::OwnRecords& own);

/// Those of them that need no features: of the number of rows, and of the classes of each.
[[nodiscard]] std::vector<std::string> OwnerWarnings(const RecordSchema& schema, int party,
                                                     const std::vector<int>& classes);

/// Of records of which each has one of `values` declared values of a column, by its number, or none: less than half of
/// `declared`, values that none has, and, where it is a tenth of them at least, how many have none.
[[nodiscard]] std::vector<std::string> OwnerWarnings(std::int64_t declared,
                                                     const std::vector<std::string>& values,
                                                     const std::vector<std::optional<std::size_t>>& records);

/// How many of the records repeat an earlier one, if any do; of whole rows alone. The owner's affair: in its own log, and
/// nowhere else. `own` and time as above.
[[nodiscard]] std::vector<std::string> RepeatedRows(const RecordSchema& schema, const ml::OwnRecords& own);

}  // namespace trefoil::jobs
