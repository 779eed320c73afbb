#pragma once
#include <cstdint>
#include <optional>

#include "ml/on_shares/prediction.h"
#include "ml/plan/step_plan.h"
#include "mpc/context.h"
#include "mpc/fixed_point.h"
#include "mpc/ranks.h"

namespace trefoil::ml {

/// What each of `ranks` machines classifies of a request: as many rows, rounded up, in their order.
[[nodiscard]] PredictionRequest RankRequest(PredictionRequest request, int ranks);

/// What rank 0 of the client holds of rows that it hands out, beside the rows.
[[nodiscard]] double HandOutBytes(const StepPlan& plan, const PredictionRequest& request, int ranks);

/// PredictOnShares, with the rows shared out among the ranks of the parties, each on its lane to the others'
/// ranks of its number. All ranks call it; `weights` and `own` are rank 0's, others' are not read, and rank 0
/// of the client alone gets the predictions. A failure ends the calls of the party's other ranks, too.
/// Cost:   of each lane, PredictOnSharesCost of RankRequest. Throws as PredictOnShares.
[[nodiscard]] std::optional<Predictions> PredictOnRanks(mpc::Context& party, const StepPlan& plan,
                                                        const mpc::FixedShare& weights,
                                                        const PredictionRequest& request,
                                                        const OwnRecords& own, mpc::Ranks& ranks);

}  // namespace trefoil::ml
