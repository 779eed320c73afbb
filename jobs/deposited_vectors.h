#pragma once
#include <cstdint>
#include <string>

#include "jobs/config/fields.h"
#include "jobs/records/schema.h"
#include "jobs/shared_records.h"
#include "mpc/share.h"

/// Deposits that are added up (types "sum" and "statistics" with data.source "store"): rows are vectors
/// without labels.
namespace trefoil::jobs {

/// Rows of so many numbers, of which none is longer than `norm`, as they are deposited; of their kind neither
/// `vectors` nor `statistics` says anything yet.
[[nodiscard]] RecordSchema VectorRows(std::int64_t numbers, double norm, int fraction_bits);

/// The vectors that statistics make of records. Throws ConfigError as DepositedLayoutOf.
[[nodiscard]] RecordSchema VectorsOf(const StatisticsSpec& spec);

/// The keys by which a study says what owners deposit: name and fraction_bits; then [columns] and [features],
/// or in their place [vectors] or [statistics].
void StudyRecordsFields(FieldVisitor& v, RecordSchema& s);

/// What owners deposit.
enum class DepositKind { kRecords, kVectors, kStatistics };
[[nodiscard]] DepositKind KindOfDeposits(const RecordSchema& records);
/// Which jobs are on such deposits, in words: "of type "sum"", "on records".
[[nodiscard]] const char* JobsOn(DepositKind kind);

/// The most that one record changes of the sum of all rows, in units of a row's last bit (privacy.md, "Noisy
/// sums").
[[nodiscard]] std::uint64_t SensitivityOfDeposits(const RecordSchema& records);

/// That sum, in such units: numbers x 1. Nothing is sent.
[[nodiscard]] mpc::AdditiveShare SumOfDeposits(const RecordSchema& records, SharedRecords::Checked& deposits);

/// Bytes that rows take at each party, with what their check takes and the files that they come from, of one
/// deposit at the most; with data.memory that. Throws ConfigError as BlockRows.
[[nodiscard]] double MemoryOfDeposits(const RecordSchema& records);

}  // namespace trefoil::jobs
