#include "ml/on_shares/prediction.h"

#include <algorithm>
#include <string>

#include "base/error.h"
#include "ml/on_shares/correct_counts.h"
#include "ml/on_shares/held_out.h"
#include "ml/records.h"
#include "protocols/arithmetic/input.h"
#include "protocols/arithmetic/multiply.h"
#include "protocols/arithmetic/reveal.h"
#include "protocols/functions/maximum.h"

namespace trefoil::ml {
namespace {

using mpc::ArithShare;
using mpc::Index;
using mpc::RingMatrix;
using mpc::Word;

/// Opens logits to the client, which takes the classes from them.
std::optional<Predictions> OpenScores(mpc::Context& party, const StepPlan& plan, int client,
                                      const ArithShare& logits) {
  const auto opened = protocols::RevealTo(party, client, logits, protocols::ReleaseReason::kPredictedScores);
  if (!opened) return std::nullopt;
  Predictions predictions{.classes = {}, .scores = mpc::Decode(*opened, 2 * plan.settings.fraction_bits)};
  for (Index row = 0; row < opened->rows(); ++row)
    predictions.classes.push_back(ClassOf(*opened, row, DecisionWord(plan)));
  return predictions;
}

/// Opens the classes alone to the client.
std::optional<Predictions> OpenClasses(mpc::Context& party, int client, const ArithShare& logits) {
  const ArithShare numbers = protocols::ColumnNumbers(PredictClasses(party, logits, kClassifiedWidth));
  const auto opened =
      protocols::RevealTo(party, client, numbers, protocols::ReleaseReason::kPredictedClasses);
  if (!opened) return std::nullopt;
  Predictions predictions;
  for (Index row = 0; row < opened->rows(); ++row)
    predictions.classes.push_back(static_cast<int>((*opened)(row, 0)));
  return predictions;
}

/// Takes the predictions of a block's first `rows`; the others are those of padding.
void Append(Predictions& all, const Predictions& block, Index rows) {
  const auto first = static_cast<Index>(all.classes.size());
  all.classes.insert(all.classes.end(), block.classes.begin(), block.classes.begin() + rows);
  if (rows > 0 && block.scores) all.scores->middleRows(first, rows) = block.scores->topRows(rows);
}

}  // namespace

void CheckRowsToPredict(const StepPlan& plan, const PredictionRequest& request, const OwnRecords& own) {
  if (own.rows() > request.rows) {
    throw DataError("rows to predict: found " + std::to_string(own.rows()) + ", expected at most the " +
                    std::to_string(request.rows) + " of predict.rows");
  }
  if (own.rows() > 0 && own.features() != plan.settings.features) {
    throw DataError("rows to predict: found " + std::to_string(own.features()) + " features, expected " +
                    std::to_string(plan.settings.features));
  }
}

int ClassOf(const RingMatrix& logits, Index row, Word decision) {
  if (logits.cols() == 1) return mpc::Signed(logits(row, 0)) > mpc::Signed(decision) ? 1 : 0;
  int best = 0;
  for (Index k = 1; k < logits.cols(); ++k) {
    if (mpc::Signed(logits(row, k)) > mpc::Signed(logits(row, best))) best = static_cast<int>(k);
  }
  return best;
}

std::optional<Predictions> PredictOnShares(mpc::Context& party, const StepPlan& plan,
                                           const mpc::FixedShare& weights, const PredictionRequest& request,
                                           const OwnRecords& own) {
  CheckRowsToPredict(plan, request, own);
  const bool client = party.self() == request.client;
  Predictions all;
  if (client && request.scores) all.scores = Eigen::MatrixXd(own.rows(), plan.columns);
  std::int64_t first = 0;
  for (const std::int64_t rows : HeldOutBlocks(request.rows)) {
    const std::int64_t filled = std::clamp<std::int64_t>(own.rows() - first, 0, rows);
    const RingMatrix encoded = client ? EncodeRows(plan, own, first, filled, rows) : RingMatrix();
    const mpc::FixedShare x(
        protocols::Input(party, request.client, encoded, {.rows = rows, .cols = plan.settings.features + 1}),
        plan.settings.fraction_bits);
    const mpc::AdditiveShare logits = Logits(party, plan, x, weights);
    const auto block = request.scores
                           ? OpenScores(party, plan, request.client, protocols::Reshare(party, logits))
                           : OpenClasses(party, request.client,
                                         protocols::Reshare(party, AboveDecision(party, plan, logits)));
    if (block) Append(all, *block, filled);
    first += rows;
  }
  if (!client) return std::nullopt;
  return all;
}

mpc::Cost PredictOnSharesCost(const StepPlan& plan, const PredictionRequest& request) {
  mpc::Cost cost;
  for (const std::int64_t rows : HeldOutBlocks(request.rows)) {
    const Index logits = rows * plan.columns;
    cost = ThenUnturned(cost, protocols::InputCost(request.client, rows * (plan.settings.features + 1)));
    cost = Then(Then(cost, LogitsCost(plan, rows)), protocols::ReshareCost(logits));
    if (!request.scores) cost = Then(cost, PredictClassesCost(rows, plan.columns, kClassifiedWidth));
    cost = ThenUnturned(cost, protocols::RevealToCost(request.client, request.scores ? logits : rows));
  }
  return cost;
}

}  // namespace trefoil::ml
