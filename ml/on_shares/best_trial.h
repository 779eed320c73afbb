#pragma once
#include <cstdint>
#include <vector>

#include "base/secrets/random.h"
#include "dp/record/record.h"
#include "ml/dpsgd/training.h"
#include "ml/plan/step_plan.h"
#include "mpc/cost.h"
#include "mpc/share.h"

namespace trefoil::ml {

/// How one of several trained models is chosen while all is in shares: public, the same at all three parties.
struct TrialSelection {
  HeldOut test;                         ///< the records by which models are compared
  double sigma = 0;                     ///< noise multiplier of each model's count of them
  std::vector<std::int64_t> weights{};  ///< dp::TrialLaw: of 1, 2, ... models that compete, up to all
};

/// What the test records are charged of each model. Throws ConfigError for noise below 8 lattice units.
[[nodiscard]] dp::NoisyEvaluation ScoreEvent(const StepPlan& plan, double sigma);

/// A secret choice of models that compete: one plane, a bit for each weight. Their number has exactly the
/// probability that its weight says; given it, every choice has the same, unless two of the 60-bit numbers by
/// which models are ranked are equal. All coins are common randomness of which every party lacks a component;
/// nothing is opened.
///
/// Pre:     2 to dp::kMaxTrials weights, which add up to 2^dp::kTrialLawBits.
/// Cost:    DrawCompetingCost.
/// Throws:  ContractError on the weights, before anything is sent; NetworkError, ProtocolError.
[[nodiscard]] mpc::BoolShare DrawCompeting(mpc::Context& party, const std::vector<std::int64_t>& weights);
[[nodiscard]] mpc::Cost DrawCompetingCost(mpc::Index models);

/// The model with the greatest score among those that compete, the first of equal ones. Scores are counts of
/// records in units of 2^-f, models x 1; which one it is, and how many compete, stays in shares.
/// Pre: scores within +-2^56; as many models, scores and bits. Cost: ChooseCompetingCost.
[[nodiscard]] mpc::ArithShare ChooseCompeting(mpc::Context& party, const std::vector<mpc::ArithShare>& models,
                                              const mpc::ArithShare& scores, const mpc::BoolShare& competing);
[[nodiscard]] mpc::Cost ChooseCompetingCost(mpc::Index models, mpc::Index parameters);

/// The best of the models by how many of the holder's test records each classifies correctly, with the
/// discrete Gaussian noise of all three parties, among those that DrawCompeting lets compete. `stream` makes
/// this party's noise: RandomStream::FromSystem() but in tests. Nothing is opened.
/// Pre:    `plan` is one trial's, of which all others have network, loss and features; CheckRecords.
/// Cost:   BestTrialCost. Throws: DataError as EncodeRecords; NetworkError, ProtocolError.
[[nodiscard]] mpc::ArithShare BestTrial(mpc::Context& party, const StepPlan& plan,
                                        const TrialSelection& selection,
                                        const std::vector<mpc::ArithShare>& models, const OwnRecords& test,
                                        RandomStream stream);
[[nodiscard]] mpc::Cost BestTrialCost(const StepPlan& plan, const TrialSelection& selection);

}  // namespace trefoil::ml
