#pragma once
#include <span>
#include <vector>

#include "ml/batches/deposited_rows.h"
#include "ml/records.h"
#include "tests/support/ml_test.h"

namespace trefoil::ml {

inline constexpr mpc::Index kDepositedRows = 40;

inline TrainingSettings DepositedSettings() {
  TrainingSettings settings = testing_support::SmallSettings();
  settings.sampling = Sampling::kFull;
  settings.deposited = true;
  settings.rows = {kDepositedRows, 0, 0};
  settings.expected_batch = kDepositedRows;
  settings.truncation = protocols::Rounding::kExact;
  settings.loss = Loss::kSquared;
  return settings;
}

/// The rows of an honest owner with so many slots: every second one is padding, and those behind the last
/// record.
inline mpc::RingMatrix Deposit(const StepPlan& plan, const OwnRecords& records, mpc::Index capacity) {
  const mpc::Index features = plan.settings.features;
  mpc::RingMatrix rows = mpc::RingMatrix::Zero(capacity, DepositedColumns(plan));
  for (mpc::Index k = 0; k < records.x.rows(); ++k) {
    (void)EncodeFeatures(records.x.row(k).cast<double>(), k, plan.settings.row_norm,
                         plan.settings.fraction_bits,
                         std::span(&rows(2 * k, 0), static_cast<std::size_t>(features)));
    rows(2 * k, features) = 1;
    const auto label = static_cast<mpc::Word>(records.y[static_cast<std::size_t>(k)]);
    if (plan.columns == 1) {
      rows(2 * k, features + 1) = label;
    } else {
      rows(2 * k, features + 1 + static_cast<mpc::Index>(label)) = 1;
    }
  }
  return rows;
}

/// With features modulo 2^b.
inline mpc::RingMatrix AsDeposited(const StepPlan& plan, mpc::RingMatrix rows) {
  const mpc::Word mask =
      (mpc::Word{1} << DepositedFeatureBits(plan.settings.row_norm, plan.settings.fraction_bits)) - 1;
  const mpc::Index features = plan.settings.features;
  rows.leftCols(features) = rows.leftCols(features).unaryExpr([=](mpc::Word word) { return word & mask; });
  return rows;
}

/// The same in the form of a party's own.
inline mpc::RingMatrix Encoded(const StepPlan& plan, const OwnRecords& records, mpc::Index capacity) {
  std::vector<std::int64_t> slots(static_cast<std::size_t>(capacity), kPadding);
  for (std::int64_t k = 0; k < records.rows(); ++k) slots[static_cast<std::size_t>(2 * k)] = k;
  return EncodeRecords(plan, records, slots, capacity);
}

}  // namespace trefoil::ml
