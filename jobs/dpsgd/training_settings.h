#pragma once
#include "jobs/dpsgd/settings.h"
#include "ml/dpsgd/training.h"

namespace trefoil::jobs {

/// The part of a job that the training needs.
[[nodiscard]] ml::TrainingSettings SettingsOf(const DpsgdSettings& job);

/// The settings by which a model in shares classifies rows: a training's own; of another job's schema those of a
/// linear model with one logit, whose training does not matter.
[[nodiscard]] ml::TrainingSettings ClassifierSettings(const DpsgdSettings& job);

/// For a model that stays in shares: throws ConfigError naming release.to where weights of this norm, in
/// lattice units, could give logits beyond the ring.
void RequireLogitsInRing(double weight_norm, double row_norm, int fraction_bits);

}  // namespace trefoil::jobs
