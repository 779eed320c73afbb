#include "ml/on_shares/held_out.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "base/error.h"
#include "ml/on_shares/correct_counts.h"
#include "ml/records.h"
#include "protocols/arithmetic/input.h"

namespace trefoil::ml {
namespace {

using mpc::AdditiveShare;
using mpc::Index;
using mpc::RingMatrix;

protocols::Shape BlockShape(const StepPlan& plan, std::int64_t rows) {
  return {.rows = rows, .cols = EncodedColumns(WithWholeRows(plan))};
}

}  // namespace

std::vector<std::int64_t> HeldOutBlocks(std::int64_t rows) {
  std::vector<std::int64_t> blocks;
  for (; rows > 0; rows -= kHeldOutBlock) blocks.push_back(std::min(rows, kHeldOutBlock));
  return blocks;
}

void CheckRecords(const HeldOut& declared, const OwnRecords& records, int self, const std::string& kind,
                  const std::string& key) {
  const bool holds = self == declared.holder;
  if (records.rows() == (holds ? declared.rows : 0)) return;
  throw DataError(kind + ": found " + std::to_string(records.rows()) + " records, expected " +
                  (holds ? "the " + std::to_string(declared.rows) + " of " + key
                         : "none at party " + std::to_string(self) + ", which does not hold them"));
}

AdditiveShare SumHeldOut(mpc::Context& party, const StepPlan& plan, const HeldOut& declared,
                         const OwnRecords& records, const BlockCounts& count) {
  const StepPlan whole = WithWholeRows(plan);
  AdditiveShare counts;
  std::int64_t first = 0;
  for (const std::int64_t rows : HeldOutBlocks(declared.rows)) {
    RingMatrix own;
    if (party.self() == declared.holder) {
      std::vector<std::int64_t> of_block(static_cast<std::size_t>(rows));
      std::iota(of_block.begin(), of_block.end(), first);
      own = EncodeRecords(whole, records, of_block, rows);
    }
    const Batch batch = ToBatch(whole, protocols::Input(party, declared.holder, own, BlockShape(plan, rows)));
    const AdditiveShare of_block = count(party, batch);
    counts = first == 0 ? of_block : counts + of_block;
    first += rows;
  }
  return counts;
}

mpc::Cost SumHeldOutCost(const mpc::Cost& before, const StepPlan& plan, const HeldOut& declared,
                         const std::function<mpc::Cost(const mpc::Cost& before, Index rows)>& then) {
  mpc::Cost cost = before;
  for (const std::int64_t rows : HeldOutBlocks(declared.rows)) {
    const protocols::Shape shape = BlockShape(plan, rows);
    cost = then(ThenUnturned(cost, protocols::InputCost(declared.holder, shape.rows * shape.cols)), rows);
  }
  return cost;
}

AdditiveShare CountHeldOut(mpc::Context& party, const StepPlan& plan, const HeldOut& declared,
                           const OwnRecords& records, const BlockLogits& logits, int logit_width) {
  return SumHeldOut(party, plan, declared, records, [&](mpc::Context& branch, const Batch& batch) {
    return CorrectCounts(branch, batch, logits(branch, batch.x), logit_width);
  });
}

mpc::Cost CountHeldOutCost(const mpc::Cost& before, const StepPlan& plan, const HeldOut& declared,
                           Index models, const std::function<mpc::Cost(Index rows)>& logits_cost,
                           int logit_width) {
  return SumHeldOutCost(before, plan, declared, [&](const mpc::Cost& cost, Index rows) {
    return Then(Then(cost, logits_cost(rows)), CorrectCountsCost(rows, plan.columns, models, logit_width));
  });
}

}  // namespace trefoil::ml
