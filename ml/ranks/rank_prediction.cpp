#include "ml/ranks/rank_prediction.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "ml/ranks/memory.h"

namespace trefoil::ml {
namespace {

using Features = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Logits64 = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Rank 0's weights.
mpc::FixedShare HandOutWeights(const StepPlan& plan, const mpc::FixedShare& weights, mpc::Ranks& ranks) {
  const LayerShape shape = ShapeOfWeights(plan);
  mpc::RingMatrix own(shape.inputs, shape.outputs);
  mpc::RingMatrix next(shape.inputs, shape.outputs);
  if (ranks.rank() == 0) {
    own = weights.ring().own();
    next = weights.ring().next();
  }
  ranks.Broadcast(Memory(own));
  ranks.Broadcast(Memory(next));
  return {mpc::ArithShare(std::move(own), std::move(next)), plan.settings.fraction_bits};
}

/// This rank's of the client's rows, `height` at most.
OwnRecords HandOutRows(const OwnRecords& own, mpc::Index features, std::int64_t height, mpc::Ranks& ranks) {
  std::vector<std::int64_t> rows{own.rows()};
  ranks.Broadcast(Memory(rows));
  Features all;
  if (ranks.rank() == 0) {
    all = Features::Zero(ranks.count() * height, features);
    for (std::int64_t row = 0; row < own.rows(); ++row) all.row(row) = own.Row(row);
  }
  Features handed(height, features);
  ranks.Scatter(Memory(all), Memory(handed));
  OwnRecords mine;
  mine.x = handed.topRows(std::clamp<std::int64_t>(rows[0] - ranks.rank() * height, 0, height));
  return mine;
}

/// What all ranks of the client were told of their rows, of which rank 0 has so many, in their order.
Predictions Gathered(const Predictions& own, std::int64_t rows, std::int64_t height, mpc::Index columns,
                     mpc::Ranks& ranks) {
  const auto all_rows = static_cast<std::size_t>(ranks.rank() == 0 ? ranks.count() * height : 0);
  std::vector<int> classes(own.classes);
  classes.resize(static_cast<std::size_t>(height));
  Predictions all{.classes = std::vector<int>(all_rows)};
  ranks.Gather(Memory(classes), Memory(all.classes));
  if (own.scores) {
    Logits64 scores = Logits64::Zero(height, columns);
    scores.topRows(own.scores->rows()) = *own.scores;
    Logits64 all_scores(static_cast<mpc::Index>(all_rows), columns);
    ranks.Gather(Memory(scores), Memory(all_scores));
    if (ranks.rank() == 0) all.scores = all_scores.topRows(rows);
  }
  if (ranks.rank() == 0) all.classes.resize(static_cast<std::size_t>(rows));
  return all;
}

std::optional<Predictions> PredictOnAll(mpc::Context& party, const StepPlan& plan,
                                        const mpc::FixedShare& weights, const PredictionRequest& request,
                                        const OwnRecords& own, mpc::Ranks& ranks) {
  const bool client = party.self() == request.client;
  if (ranks.rank() == 0) CheckRowsToPredict(plan, request, own);
  const PredictionRequest of_rank = RankRequest(request, ranks.count());
  const auto handed = HandOutWeights(plan, weights, ranks);
  const OwnRecords rows =
      client ? HandOutRows(own, plan.settings.features, of_rank.rows, ranks) : OwnRecords();
  const auto predictions = PredictOnShares(party, plan, handed, of_rank, rows);
  if (!predictions) return std::nullopt;
  auto all = Gathered(*predictions, own.rows(), of_rank.rows, plan.columns, ranks);
  if (ranks.rank() > 0) return std::nullopt;
  return all;
}

}  // namespace

PredictionRequest RankRequest(PredictionRequest request, int ranks) {
  request.rows = (request.rows + ranks - 1) / ranks;
  return request;
}

std::optional<Predictions> PredictOnRanks(mpc::Context& party, const StepPlan& plan,
                                          const mpc::FixedShare& weights, const PredictionRequest& request,
                                          const OwnRecords& own, mpc::Ranks& ranks) {
  try {
    return PredictOnAll(party, plan, weights, request, own, ranks);
  } catch (...) {
    ranks.Abort();
    throw;
  }
}

}  // namespace trefoil::ml
