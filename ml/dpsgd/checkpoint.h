#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "base/secrets/secure_memory.h"
#include "ml/dpsgd/dp_sgd.h"

namespace trefoil::ml {

/// What the steps of a run with public sampling choose rows by. A resumed run goes on with the same, so that
/// no row is in more steps than the noise was calibrated to.
struct PublicCoins {
  SecretKey schedule;  ///< joint: which slots each step takes
  SecretKey slots;     ///< which slot a row is in: private to its owner; joint with a vertical partition
};

/// All that a training needs to go on after a step, at one party. Never a key of a link, a mask or noise of
/// steps: a resumed run draws those anew (docs/explanation/threat_model.md, "Resumed runs").
struct Checkpoint {
  TrainingState state;
  std::optional<PublicCoins> coins{};  ///< with public sampling
  /// Behind the last step: what the evaluation has counted and is to open, its noise included. A session that
  /// goes on from it opens the same numbers, and counts nothing.
  std::optional<mpc::ArithShare> counts{};
  /// With balanced weights: the noisy counts of the classes, which were opened before the first step and
  /// stay.
  std::vector<std::int64_t> class_counts{};
};

}  // namespace trefoil::ml
