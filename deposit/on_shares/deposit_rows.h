#pragma once
#include <cstdint>
#include <vector>

#include "deposit/format/components.h"
#include "deposit/read_deposit.h"
#include "jobs/records/schema.h"
#include "mpc/share.h"

namespace trefoil::deposit {

/// A party's shares of a deposit's rows, from the first on, as they were deposited: features modulo 2^b.
/// Local.
class DepositRows {
 public:
  /// `deposit` is party `party`'s, and must outlive this; its components are checked (CheckedComponents).
  DepositRows(const RowLayout& layout, int party, const OpenedDeposit& deposit);
  /// The next rows, so many. Pre: they are there.
  [[nodiscard]] mpc::ArithShare Next(std::uint64_t rows);
  void Skip(std::uint64_t rows);

 private:
  ComponentRows own_;
  ComponentRows next_;
};

/// Deposits of batches, step by step: of the rows of all steps no more are there at once than a step has, and
/// deposits as they were sealed.
class DepositedSteps {
 public:
  /// Party `party`'s, of records that have batches. Pre: no more deposits than these batches say.
  DepositedSteps(const jobs::RecordSchema& records, int party, std::vector<OpenedDeposit> deposits);

  /// Step 0, 1, ...: the deposits' batches one below the other, then zeros up to as many rows as all deposits
  /// that there is room for have. Pre: a later step than the one before.
  [[nodiscard]] mpc::ArithShare Batch(int step);

 private:
  jobs::BatchSpec batches_;
  mpc::Index columns_;
  std::vector<OpenedDeposit> deposits_;
  std::vector<DepositRows> rows_;  ///< of deposits_
  int next_ = 0;
};

}  // namespace trefoil::deposit
