#pragma once
#include <functional>
#include <optional>
#include <vector>

#include "dp/record/record.h"
#include "ml/dpsgd/dp_sgd.h"
#include "ml/dpsgd/training.h"
#include "mpc/cost.h"
#include "mpc/fixed_point.h"

namespace trefoil::ml {

/// What the settings' evaluation is charged, to the test records: nothing without one, and nothing where a
/// count has no noise, which no event covers. Throws ConfigError for noise below 8 lattice units.
[[nodiscard]] std::vector<dp::RecordedEvent> EvaluationEvents(const StepPlan& plan);

/// How many numbers the settings' evaluation opens: one, or a table's and those of all histograms. 0 where
/// they have none.
[[nodiscard]] mpc::Index EvaluationNumbers(const TrainingSettings& settings);

/// The deviation of the three parties' noise together in each of these numbers. Pre: an evaluation with
/// sigma.
[[nodiscard]] double CountsDeviation(const TrainingSettings& settings);

/// What an evaluation opens, as shares with their noise, where a run may go on in another session.
struct KeptCounts {
  std::optional<mpc::ArithShare> counts{};  ///< as an earlier session made them: opened in place of new ones
  std::function<void(const mpc::ArithShare&)>
      before_opening{};  ///< gets them; what it throws ends the evaluation
};

/// How many of the holder's test records the model in shares classifies correctly, or with bins how many of
/// each class have which prediction (ScoreHistogram), and with a confusion table are taken for which class
/// (ConfusionCounts): opened, with the noise of all parties where the settings have it, to those whom they
/// name, and nothing else is to anybody. A
/// network's hidden layers round as in training, so that a record on the edge of two classes may count
/// otherwise than with the model in the clear.
/// Pre:    plan.settings.evaluation, CheckRecords; logits below 2^62 (CheckLogitRange).
/// Cost:   EvaluateOnSharesCost, of counts that are there only the reveal. Throws: DataError as
///         EncodeRecords; NetworkError, ProtocolError.
[[nodiscard]] EvaluationResult EvaluateOnShares(mpc::Context& party, const StepPlan& plan,
                                                const mpc::FixedShare& weights, const OwnRecords& test,
                                                const KeptCounts& kept = {});
[[nodiscard]] mpc::Cost EvaluateOnSharesCost(const StepPlan& plan);

}  // namespace trefoil::ml
