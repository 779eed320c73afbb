#pragma once
#include "jobs/job.h"

/// What the types of job have in common whose records may be deposits (data.source "store").
namespace trefoil::jobs {

/// For Job::Split, which deals parties records of their own: throws ConfigError where the job's are deposits.
void RequireOwnRecords(const RecordSchema& records, const SplitTarget& target);

/// For Job::Inputs. `records` are those that the job was given; null: it throws ConfigError when it is loaded.
[[nodiscard]] JobInput DepositsOf(SharedRecords* records);

/// For Job::Run, before `plan` is reserved: the deposits that the run uses, which are checked, and whose populations
/// are charged; the operator is told what is left out. Throws as SharedRecords::Share.
[[nodiscard]] SharedRecords::Checked TakeDeposits(mpc::Context& party, SharedRecords& records, Output& output,
                                                  const Output::Events& plan);

}  // namespace trefoil::jobs
