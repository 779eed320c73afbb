#include "ml/ranks/rank_prediction.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "ml/on_shares/held_out.h"
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

/// How many rows of each rank are handed out at once.
mpc::Index RowsAtOnce(std::int64_t height, int ranks) {
  return std::min(height, std::max<std::int64_t>(kHeldOutBlock / ranks, 1));
}

/// This rank's of the client's rows, `height` at most. Rank 0 has no second copy of its own, and of others'
/// only of what it is handing out.
OwnRecords HandOutRows(const OwnRecords& own, mpc::Index features, std::int64_t height, mpc::Ranks& ranks) {
  std::vector<std::int64_t> rows{own.rows()};
  ranks.Broadcast(Memory(rows));
  const int self = ranks.rank();
  const auto rows_of = [&](int rank) { return std::clamp<std::int64_t>(rows[0] - rank * height, 0, height); };
  const auto read = [&own](std::int64_t row, std::span<float> out) {
    Eigen::Map<Eigen::RowVectorXf>(out.data(), static_cast<mpc::Index>(out.size())) = own.Row(row);
  };
  OwnRecords mine;
  if (self == 0) mine.stored = {.rows = rows_of(0), .features = features, .read = read};
  if (self > 0) mine.x.resize(rows_of(self), features);
  const mpc::Index at_once = RowsAtOnce(height, ranks.count());
  Features all = Features::Zero(self == 0 ? ranks.count() * at_once : 0, features);
  Features part(at_once, features);
  for (std::int64_t first = 0; first < height; first += at_once) {
    for (int rank = 1; self == 0 && rank < ranks.count(); ++rank) {
      for (std::int64_t k = first; k < std::min(first + at_once, rows_of(rank)); ++k)
        all.row(rank * at_once + k - first) = own.Row(rank * height + k);
    }
    ranks.Scatter(Memory(all), Memory(part));
    const auto here = std::clamp<std::int64_t>(mine.x.rows() - first, 0, at_once);
    if (here > 0) mine.x.middleRows(first, here) = part.topRows(here);
  }
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

double HandOutBytes(const StepPlan& plan, const PredictionRequest& request, int ranks) {
  if (ranks == 1) return 0;
  const auto rows = (ranks + 1) * RowsAtOnce(RankRequest(request, ranks).rows, ranks);
  return static_cast<double>(rows) * static_cast<double>(plan.settings.features) * sizeof(float);
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
