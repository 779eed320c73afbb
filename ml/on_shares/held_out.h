#pragma once
#include <functional>
#include <string>
#include <vector>

#include "ml/dpsgd/dp_sgd.h"
#include "ml/dpsgd/training.h"
#include "mpc/cost.h"
#include "mpc/fixed_point.h"

namespace trefoil::ml {

/// Held-out records are input in blocks of so many.
inline constexpr std::int64_t kHeldOutBlock = 1024;

/// Sizes of the blocks that so many rows make.
[[nodiscard]] std::vector<std::int64_t> HeldOutBlocks(std::int64_t rows);

/// Throws DataError "KIND: found N records, expected the E of KEY" where this party is the holder and has not
/// exactly as many, and for records at a party that is not.
void CheckRecords(const HeldOut& declared, const OwnRecords& records, int self, const std::string& kind,
                  const std::string& key);

/// Counts of a block of records, in units of 2^-f.
using BlockCounts = std::function<mpc::AdditiveShare(mpc::Context& party, const Batch& batch)>;

/// What `count` makes of the holder's records, block by block, added up. The holder inputs them; the others'
/// `records` are not used. Nothing is opened. Pre: CheckRecords. Cost: SumHeldOutCost. Throws: DataError as
/// EncodeRecords; NetworkError, ProtocolError.
[[nodiscard]] mpc::AdditiveShare SumHeldOut(mpc::Context& party, const StepPlan& plan,
                                            const HeldOut& declared, const OwnRecords& records,
                                            const BlockCounts& count);

/// With what comes `before`; `then` adds the count of a block of so many rows to what comes before it.
[[nodiscard]] mpc::Cost SumHeldOutCost(
    const mpc::Cost& before, const StepPlan& plan, const HeldOut& declared,
    const std::function<mpc::Cost(const mpc::Cost& before, mpc::Index rows)>& then);

/// Logits of K models for a block of rows (a batch's x): rows x K c at 2f bits.
using BlockLogits = std::function<mpc::AdditiveShare(mpc::Context& party, const mpc::FixedShare& x)>;

/// How many of the holder's records each of `models` models classifies correctly, as CorrectCounts. The
/// holder inputs them block by block; the others' `records` are not used. Nothing is opened. Pre:
/// CheckRecords. Cost: CountHeldOutCost. Throws: DataError as EncodeRecords; NetworkError, ProtocolError.
[[nodiscard]] mpc::AdditiveShare CountHeldOut(mpc::Context& party, const StepPlan& plan,
                                              const HeldOut& declared, const OwnRecords& records,
                                              const BlockLogits& logits, int logit_width);

/// With what comes `before`; `logits_cost` is that of a block of so many rows.
[[nodiscard]] mpc::Cost CountHeldOutCost(const mpc::Cost& before, const StepPlan& plan,
                                         const HeldOut& declared, mpc::Index models,
                                         const std::function<mpc::Cost(mpc::Index rows)>& logits_cost,
                                         int logit_width);

}  // namespace trefoil::ml
