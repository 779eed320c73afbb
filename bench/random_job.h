#pragma once
#include "bench/operations.h"
#include "ml/dpsgd/training.h"
#include "ml/plan/settings.h"
#include "ml/plan/step_plan.h"
#include "protocols/arithmetic/rounding.h"

namespace trefoil::bench {

/// The noise multiplier of these jobs.
inline constexpr double kJobSigma = 1;

/// Which of the models and steps that a job can ask for.
struct StepKind {
  ml::Loss loss = ml::Loss::kOneVsRest;
  ml::Clipping clipping = ml::Clipping::kFactorised;
  protocols::Rounding truncation = protocols::Rounding::kStochastic;
  bool hidden = false;  ///< with a hidden layer of 32
};

/// A job of one step on a batch of that shape (batch x features x classes). Throws: ConfigError on a shape of
/// two classes.
[[nodiscard]] ml::TrainingSettings SettingsFor(const ProductShape& shape, const StepKind& kind);

/// Uniform features and classes.
[[nodiscard]] ml::OwnRecords RandomRecords(const ml::TrainingSettings& settings, mpc::Index rows);

}  // namespace trefoil::bench
