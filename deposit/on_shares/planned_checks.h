#pragma once
#include <cstdint>
#include <optional>

#include "jobs/job_cost.h"
#include "jobs/records/schema.h"

namespace trefoil::deposit {

/// What StoreRecords::Share costs a job on deposits, to the byte, where there are `deposits` deposits of as
/// many rows each (DepositChecks::rows) and none is left out. A job's capacity is divided evenly among them,
/// and rounded down, so that a run takes them, but none has more rows than a run opens (MostRowsOpened);
/// batches have the rows that the study says. Without a number it is that of the job's batches, or one a
/// party, or as many more as share the whole capacity so, but at most one a row.
/// Throws: ConfigError for a number below 1, above what a job takes, or above the job's rows or deposits.
[[nodiscard]] jobs::DepositChecks PlannedChecks(const jobs::RecordSchema& records,
                                                std::optional<std::int64_t> deposits);

}  // namespace trefoil::deposit
