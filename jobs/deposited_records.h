#pragma once
#include "jobs/job.h"

/// What the types of job have in common whose records may be deposits (data.source "store").
namespace trefoil::jobs {

/// For Job::Split, which deals parties records of their own: throws ConfigError where the job's are deposits.
void RequireOwnRecords(const StoreSpec& store, const SplitTarget& target);

/// Bytes that data.memory is; 0 without it.
[[nodiscard]] double RowMemory(const RecordSchema& records);

/// Bytes that rows take on disk then; 0 without it.
[[nodiscard]] double RowDisk(const RecordSchema& records);

/// Bytes of a number while its row is checked: lifted, squared, and what is dealt and sent for that.
inline constexpr double kBytesOfACheckedNumber = 256;
/// Numbers that are checked at once where data.memory does not say less, and the fewest rows that are.
inline constexpr std::int64_t kCheckedAtOnce = std::int64_t{1} << 20;
inline constexpr std::int64_t kFewestCheckedRows = 64;

/// With data.memory the rows of each block in which they are read: so many that they and what is computed of
/// them, by a linear model or in sums, take no more. Without it 0. Throws ConfigError where kFewestBlockRows
/// do not fit, or half of it is too little to check as many.
[[nodiscard]] std::int64_t BlockRows(const RecordSchema& records);
inline constexpr std::int64_t kFewestBlockRows = kFewestCheckedRows;

/// How many blocks these are; 1 without data.memory.
[[nodiscard]] int BlocksOfRows(const RecordSchema& records);

/// visit(rows) gets all rows, in one or more matrices; with data.memory block by block.
void ForEachBlock(const RecordSchema& records, SharedRecords::Checked& deposits,
                  const std::function<void(std::vector<mpc::ArithShare> rows)>& visit);

/// For Job::Inputs. `records` are those that the job was given; null: it throws ConfigError when it is
/// loaded. `schema` is read then, and outlives the input.
[[nodiscard]] JobInput DepositsOf(SharedRecords* records, const RecordSchema& schema);

/// For Job::Run, before `plan` is reserved: the deposits that the run uses, which are checked, and whose
/// populations are charged; the operator is told what is left out. Throws as SharedRecords::Share.
[[nodiscard]] SharedRecords::Checked TakeDeposits(mpc::Context& party, SharedRecords& records, Output& output,
                                                  const Output::Events& plan);

}  // namespace trefoil::jobs
