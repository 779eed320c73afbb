#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "ml/dpsgd/dp_sgd.h"
#include "ml/plan/step_plan.h"
#include "mpc/cost.h"
#include "mpc/share.h"

namespace trefoil::ml {

/// Columns of rows that all three parties hold on shares before a training begins: features (p) at the
/// settings' fraction bits, the mask bit, and the label, these two without a scale: with two classes 0 or 1,
/// with more a 1 among zeros, a target in steps of 2^-kTargetBits.
[[nodiscard]] mpc::Index DepositedColumns(const StepPlan& plan);

/// b: the bits of a feature of such rows as owners deposit it, the least number with R 2^f < 2^(b - 2), for
/// rows of norm `row_norm`, R, and f fraction bits; 31 where even these do not suffice.
[[nodiscard]] int DepositedFeatureBits(double row_norm, int fraction_bits);

/// Whether squared norms of such rows of p features are whole numbers in the ring, whatever an owner
/// deposits: R 2^f < 2^(b - 2) and (p + 1) 2^(2b + 2) < 2^63.
[[nodiscard]] bool DepositedNormsFit(std::int64_t features, double row_norm, int fraction_bits);

/// The most fraction bits up to `most` with which they are; nothing where they are not even with `least`.
/// Pre: least <= most.
[[nodiscard]] std::optional<int> MostDepositedBits(std::int64_t features, double row_norm, int least,
                                                   int most);

/// Rows whose features are modulo 2^b, with features in the ring: those that were encoded, where all three
/// have made sure that these are rows.
/// Cost: LiftDepositedCost: that of protocols::Lift. Throws ContractError for another number of columns;
/// NetworkError, ProtocolError.
[[nodiscard]] mpc::ArithShare LiftDeposited(mpc::Context& party, const StepPlan& plan,
                                            const mpc::ArithShare& rows);
[[nodiscard]] mpc::Cost LiftDepositedCost(const StepPlan& plan, mpc::Index rows);

/// The targets of such rows in steps of 2^-fraction_bits of their range, to the nearest; as they are from
/// kTargetBits on.
/// Pre:  from 0 to 2^kTargetBits, times the mask bit; at least one fraction bit.
/// Cost: RoundTargetsCost: one exact truncation. Throws NetworkError, ProtocolError.
[[nodiscard]] mpc::ArithShare RoundTargets(mpc::Context& party, const mpc::ArithShare& targets,
                                           const mpc::ArithShare& mask, int fraction_bits);
[[nodiscard]] mpc::Cost RoundTargetsCost(mpc::Index rows, int fraction_bits);

/// Such rows as records that EncodeRecords() might have made: the same numbers, squared norms and targets
/// included.
/// Pre:    rows that FaultyRows (protocols/comparison/row_check.h) finds no fault with, whose squared norms
///         are below 2^62.
/// Cost:   EncodeDepositedCost: for the norms one exact truncation of a product; for targets another, of a
///         number.
/// Throws: ContractError for another number of columns; NetworkError, ProtocolError.
[[nodiscard]] mpc::ArithShare EncodeDeposited(mpc::Context& party, const StepPlan& plan,
                                              const mpc::ArithShare& rows);
[[nodiscard]] mpc::Cost EncodeDepositedCost(const StepPlan& plan, mpc::Index rows);

/// All of them, one matrix after the other, then padding up to `height` rows. Each matrix is released once it
/// is encoded. Throws as EncodeDeposited, and ContractError for more rows than the height.
[[nodiscard]] std::vector<mpc::ArithShare> EncodeAllDeposited(mpc::Context& party, const StepPlan& plan,
                                                              std::vector<mpc::ArithShare> deposited,
                                                              mpc::Index height);

/// One batch of these, of the plan's height. Throws as EncodeAllDeposited.
[[nodiscard]] Batch BatchOfDeposited(mpc::Context& party, const StepPlan& plan,
                                     std::vector<mpc::ArithShare> deposited);

}  // namespace trefoil::ml
