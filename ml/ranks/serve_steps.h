#pragma once
#include "ml/plan/settings.h"
#include "mpc/context.h"
#include "mpc/ranks.h"

namespace trefoil::ml {

/// Throws ConfigError naming the key where parties of so many machines cannot train by these settings.
void CheckRanks(const TrainingSettings& settings, int ranks);

/// What a rank above 0 does of a training, whose rank 0 calls Train: its part of the steps, on the rows that
/// rank 0 hands it, from the first step of the session to the last. Nothing is opened, and nothing kept.
/// `party` is of this rank's lane to the other two parties' ranks of this number. A failure ends the calls of
/// the party's other ranks, too.
/// Cost:   RequireSameEverywhereCost; with full sampling InputEachCost of this rank's slots; then
///         RankStepCost a step.
/// Throws: ConfigError as MakeStepPlan, HearOfSteps and RequireSameEverywhere; NetworkError, ProtocolError.
void ServeSteps(mpc::Context& party, const TrainingSettings& settings, mpc::Ranks& ranks);

}  // namespace trefoil::ml
