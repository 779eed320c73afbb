#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "dp/record/record.h"
#include "ml/dpsgd/checkpoint.h"
#include "ml/dpsgd/initialisation.h"
#include "ml/dpsgd/training.h"
#include "ml/plan/step_plan.h"
#include "mpc/context.h"
#include "mpc/cost.h"

namespace trefoil::ml {

/// Class weights that follow from noisy counts of the classes (TrainingSettings::balance_sigma). They are a
/// public function of what is opened, and at most 1, for which the plan of the steps stands: noise and
/// certificate are fixed before a count is known (docs/explanation/privacy.md, "Balanced classes").

/// How many records of each class the three parties have, each with the noise of all: opened to all three, to
/// the nearest integer. Counts all of this party's records, sampled or not.
/// Pre:    plan.settings.balance_sigma; a class of the settings for each of `own`'s records.
/// Cost:   OpenClassCountsCost.
/// Throws: DataError for another class, before anything is sent; NetworkError, ProtocolError.
[[nodiscard]] std::vector<std::int64_t> OpenClassCounts(mpc::Context& party, const StepPlan& plan,
                                                        const OwnRecords& own);
[[nodiscard]] mpc::Cost OpenClassCountsCost(const StepPlan& plan);

/// What that is charged: one release of all counts, of every record. Empty without balance_sigma. Throws
/// ConfigError for noise below 8 lattice units.
[[nodiscard]] std::vector<dp::RecordedEvent> ClassCountEvents(const StepPlan& plan);

/// The weights at these counts, on the plan's lattice: the smallest count over the class's own, so that the
/// rarest class has 1, and none below 2^-8 or above 1. A count below four deviations of any two parties'
/// noise counts as these. Integers only, the same at all parties. Pre: plan.settings.balance_sigma, a count a
/// class.
[[nodiscard]] ClassWeights BalancedWeights(const StepPlan& plan, const std::vector<std::int64_t>& counts);

/// The same as numbers. Exact.
[[nodiscard]] std::vector<double> WeightsOf(const ClassWeights& weights);

/// Gives the plans of a session the weights, where classes are to be balanced: by counts that it opens, or,
/// where it goes on from a checkpoint, by those that the run has opened. Returns these; nothing without
/// balance_sigma. Cost, throws: as OpenClassCounts.
[[nodiscard]] std::vector<std::int64_t> BalanceClasses(mpc::Context& party, const OwnRecords& own,
                                                       const std::optional<Checkpoint>& from, StepPlan& plan,
                                                       std::optional<InitialisationPlan>& initialisation);

}  // namespace trefoil::ml
