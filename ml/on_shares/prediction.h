#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "ml/dpsgd/training.h"
#include "ml/plan/step_plan.h"
#include "mpc/cost.h"
#include "mpc/fixed_point.h"

namespace trefoil::ml {

/// Rows of one party, the client, to be classified by a model in shares: public.
struct PredictionRequest {
  int client = 0;
  std::int64_t rows = 0;  ///< how many are input: the client's own, then zeros
  bool scores = false;    ///< whether the client gets the logits
};

/// What the client gets, for each of its rows.
struct Predictions {
  std::vector<int> classes;
  std::optional<Eigen::MatrixXd> scores{};  ///< the logits; with two classes that of class 1
};

/// Throws DataError where the client has more rows than the request, or others columns.
void CheckRowsToPredict(const StepPlan& plan, const PredictionRequest& request, const OwnRecords& own);

/// The class that a row of opened logits means, on their lattice: the largest one's (the first of equal
/// ones), or with one column class 1 where it is above `decision` (DecisionWord).
[[nodiscard]] int ClassOf(const mpc::RingMatrix& logits, mpc::Index row, mpc::Word decision);

/// Classifies the client's rows (`own.x`; labels are not used) by the model `weights` of the training that
/// `plan` is of, in blocks of kHeldOutBlock. Only the client gets anything: the class of each row, or its
/// logits, from which it takes the class. A network's hidden layers round as in training.
/// Pre:    ClassifiesOnShares(plan.settings); weights of ShapeOfWeights.
/// Cost:   PredictOnSharesCost. Throws: as CheckRowsToPredict, before anything is sent; NetworkError,
///         ProtocolError.
[[nodiscard]] std::optional<Predictions> PredictOnShares(mpc::Context& party, const StepPlan& plan,
                                                         const mpc::FixedShare& weights,
                                                         const PredictionRequest& request,
                                                         const OwnRecords& own);
[[nodiscard]] mpc::Cost PredictOnSharesCost(const StepPlan& plan, const PredictionRequest& request);

}  // namespace trefoil::ml
