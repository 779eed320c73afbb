#pragma once
#include <cstdint>
#include <vector>

#include "ml/plan/step_plan.h"
#include "mpc/cost.h"
#include "mpc/fixed_point.h"

namespace trefoil::ml {

/// Rows that all three parties hold on shares, to be classified by a model in shares: public.
struct DepositedRequest {
  std::int64_t rows = 0;  ///< how many are classified: those there are, then zeros
  bool scores = false;    ///< whether logits are asked for
};

/// Classifies deposited rows, columns as ml/batches/deposited_rows.h, by the model `weights` of the training
/// that `plan` is of, in blocks of kHeldOutBlock: what PredictOnShares tells of a client's rows with the same
/// numbers. `deposited` stand one below the other, and zeros below them. Labels are not used. Returns a line
/// a row, shared afresh: the number of its class; with scores its logits at 2f bits, with two classes that of
/// class 1. Nothing is opened.
/// Pre:    ClassifiesOnShares(plan.settings); weights of ShapeOfWeights; of each row the features are within
///         the bounds of the settings and the mask bit is a bit.
/// Cost:   PredictDepositedCost, however the rows are divided. Memory: all rows' shares twice while they are
///         stacked.
/// Throws: ContractError for other columns or more rows than the request; NetworkError, ProtocolError.
[[nodiscard]] mpc::ArithShare PredictDeposited(mpc::Context& party, const StepPlan& plan,
                                               const mpc::FixedShare& weights,
                                               std::vector<mpc::ArithShare> deposited,
                                               const DepositedRequest& request);
[[nodiscard]] mpc::Cost PredictDepositedCost(const StepPlan& plan, const DepositedRequest& request);

}  // namespace trefoil::ml
