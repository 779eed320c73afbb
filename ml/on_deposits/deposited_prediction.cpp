#include "ml/on_deposits/deposited_prediction.h"

#include <utility>

#include "base/error.h"
#include "ml/batches/deposited_rows.h"
#include "ml/on_shares/correct_counts.h"
#include "ml/on_shares/held_out.h"
#include "protocols/arithmetic/multiply.h"
#include "protocols/functions/maximum.h"

namespace trefoil::ml {
namespace {

using mpc::ArithShare;
using mpc::Index;
using mpc::RingMatrix;
using mpc::Word;

/// Features and, at their fraction bits, the mask bit, which is the bias: as EncodeRows has a client's rows.
ArithShare StackedRows(const StepPlan& plan, std::vector<ArithShare> deposited, Index height) {
  const Index columns = plan.settings.features + 1;
  RingMatrix own = RingMatrix::Zero(height, columns);
  RingMatrix next = own;
  Index taken = 0;
  for (ArithShare& given : deposited) {
    const ArithShare rows = std::exchange(given, {});
    Require(rows.cols() == DepositedColumns(plan), "PredictDeposited: features, a mask bit and a label");
    Require(rows.rows() <= height - taken, "PredictDeposited: no more rows than the request");
    own.middleRows(taken, rows.rows()) = rows.own().leftCols(columns);
    next.middleRows(taken, rows.rows()) = rows.next().leftCols(columns);
    taken += rows.rows();
  }
  const Word one = Word{1} << plan.settings.fraction_bits;
  own.col(columns - 1) *= one;
  next.col(columns - 1) *= one;
  return {std::move(own), std::move(next)};
}

/// Of one block. What the logits or classes were computed from is in none of the components.
ArithShare ClassifyBlock(mpc::Context& party, const StepPlan& plan, const mpc::AdditiveShare& logits,
                         bool scores) {
  if (scores) return protocols::Reshare(party, logits);
  const ArithShare above = protocols::Reshare(party, AboveDecision(party, plan, logits));
  const ArithShare classes = protocols::ColumnNumbers(PredictClasses(party, above, kClassifiedWidth));
  return protocols::Reshare(party, ToAdditive(classes));
}

}  // namespace

ArithShare PredictDeposited(mpc::Context& party, const StepPlan& plan, const mpc::FixedShare& weights,
                            std::vector<ArithShare> deposited, const DepositedRequest& request) {
  const ArithShare x = StackedRows(plan, std::move(deposited), request.rows);
  RingMatrix own(request.rows, request.scores ? plan.columns : 1);
  RingMatrix next(own.rows(), own.cols());
  Index first = 0;
  for (const std::int64_t rows : HeldOutBlocks(request.rows)) {
    const mpc::FixedShare block(Rows(x, first, rows), plan.settings.fraction_bits);
    const ArithShare of_block =
        ClassifyBlock(party, plan, Logits(party, plan, block, weights), request.scores);
    own.middleRows(first, rows) = of_block.own();
    next.middleRows(first, rows) = of_block.next();
    first += rows;
  }
  return {std::move(own), std::move(next)};
}

mpc::Cost PredictDepositedCost(const StepPlan& plan, const DepositedRequest& request) {
  mpc::Cost cost;
  for (const std::int64_t rows : HeldOutBlocks(request.rows)) {
    cost = Then(Then(cost, LogitsCost(plan, rows)), protocols::ReshareCost(rows * plan.columns));
    if (request.scores) continue;
    cost = Then(cost, PredictClassesCost(rows, plan.columns, kClassifiedWidth));
    cost = Then(cost, protocols::ReshareCost(rows));
  }
  return cost;
}

}  // namespace trefoil::ml
