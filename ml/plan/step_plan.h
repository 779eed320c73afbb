#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "dp/mechanisms/sensitivity.h"
#include "ml/dpsgd/activation.h"
#include "ml/plan/clip_grid.h"
#include "ml/plan/settings.h"
#include "mpc/ring.h"
#include "protocols/functions/clip_factor.h"

namespace trefoil::ml {

/// A learning rate over the expected batch as mantissa * 2^-exponent.
struct StepSize {
  std::uint64_t mantissa = 0;
  int exponent = 0;
};

/// A dense layer: weights of inputs x outputs.
struct LayerShape {
  mpc::Index inputs = 0;  ///< the bias entry included
  mpc::Index outputs = 0;

  [[nodiscard]] mpc::Index weights() const { return inputs * outputs; }
};

/// The weights of the classes as integers. Balanced ones are all 1 until they are known
/// (ml/noise/class_balance.h).
struct ClassWeights {
  int frac_bits = 0;
  std::vector<mpc::Word> of_class{};  ///< none: every class weighs 1, and errors are taken as they are
};

/// How records' own weights are shared: as integers, `largest` at most.
struct RecordWeights {
  int frac_bits = 0;
  mpc::Word largest = 0;  ///< 0: records have none
};

/// Every constant of a DP-SGD step that all parties must have alike, derived from the settings alone.
struct StepPlan {
  TrainingSettings settings;
  Activation activation;
  ClassWeights class_weights;
  RecordWeights record_weights;
  dp::LinearContribution example;              ///< of a linear model; its errors are the weighted ones
  std::vector<LayerShape> layers;              ///< one for a linear model
  std::vector<dp::LayerContribution> network;  ///< of a network's layers; none for a linear model
  int columns = 1;                             ///< c: one for two classes
  int row_norm_bits = 0;       ///< g: fraction bits of ||row||^2; in a network of every squared norm
  int gradient_bits = 0;       ///< of the gradient sum: those of rows and of clipped errors; in a network 2f
  int row_bits = 64;           ///< k: a step's rows are shared modulo 2^k, and their products opened so
  int update_bits = 64;        ///< w: the noisy gradient sum is opened modulo 2^w; k of a linear model
  protocols::ClipTable clip;   ///< factorised clipping
  ClipGrid grid{};             ///< of an adaptive clip
  double row_sensitivity = 0;  ///< of one example, in the units of the clip
  double sensitivity = 0;      ///< Delta, of the unit: that of an example times the rows of a group
  std::uint64_t lattice_sensitivity = 0;  ///< Delta on the gradient's lattice, rounded up
  StepSize step_size;                     ///< of the first step, and of the largest clip
  int update_shift = 0;                   ///< from the gradient's lattice times the mantissa to the weights'
  std::uint64_t momentum_factor = 0;      ///< the momentum times 2^update_shift, rounded down
  std::int64_t batch_rows = 0;            ///< rows of a step's batch, padding included
  std::int64_t block_rows = 0;            ///< of each block in which it is worked on, one after the other
  std::int64_t blocks = 1;                ///< so many, which may have more padding than the batch
};

/// Whether there are hidden layers.
[[nodiscard]] inline bool IsNetwork(const StepPlan& plan) { return plan.layers.size() > 1; }

/// Whether a step's rows are shared modulo less than the ring.
[[nodiscard]] inline bool HasNarrowRows(const StepPlan& plan) { return plan.row_bits < 64; }

/// Whether rows have their mask bit, at f bits, once more in a word beside them: a network passes it up its
/// layers, and one label is not 1 in every row, as what several add up to is.
[[nodiscard]] inline bool MaskBitsBeside(const StepPlan& plan) {
  return HasNarrowRows(plan) && IsNetwork(plan) && plan.columns == 1;
}

/// Whether the sum of narrow rows is lifted to words and then truncated with the velocity, rounded once, where
/// rows are narrow: with an adaptive clip, whose factor nobody knows when it is dealt, and where two exact
/// truncations would take a comparison's key each.
[[nodiscard]] inline bool LiftsNarrowUpdate(const StepPlan& plan) {
  const bool keys_twice =
      plan.momentum_factor != 0 && plan.settings.truncation == protocols::Rounding::kExact;
  return plan.settings.adaptive || keys_twice;
}

/// Whether they are, and it is.
[[nodiscard]] inline bool LiftsUpdate(const StepPlan& plan) {
  return HasNarrowRows(plan) && LiftsNarrowUpdate(plan);
}

/// By how many bits rows times clipped errors are moved to the gradient's lattice: a network's layers share
/// one, whatever rows have.
[[nodiscard]] inline int RowShift(const StepPlan& plan) {
  return IsNetwork(plan) ? plan.settings.fraction_bits - RowFractionBits(plan.settings) : 0;
}

/// The shape of all weights, velocities and gradient sums: (p + 1) x c for a linear model; for a network all
/// layers' weights, row by row, one below the other in one column.
[[nodiscard]] LayerShape ShapeOfWeights(const StepPlan& plan);

/// The learning rate's mantissa at step 0, 1, ..., of an adaptive clip at point `clip_at` of its grid; the
/// exponent is the same for all.
[[nodiscard]] std::uint64_t MantissaAt(const StepPlan& plan, std::int64_t step, int clip_at = 0);

/// Derives the constants and runs the range analysis. `form` decides how clip factors and softmax compare; it
/// changes no privacy figure. Throws ConfigError naming the key where a range reaches 2^62 or a value is out
/// of its domain.
[[nodiscard]] StepPlan MakeStepPlan(const TrainingSettings& settings,
                                    protocols::Form form = protocols::Form::kBulk);

/// The plan for rows at the settings' fraction bits, in whole words: of records that no step takes, but an
/// evaluation does.
[[nodiscard]] StepPlan WithWholeRows(StepPlan plan);

/// All constants as text, for the parties to compare.
[[nodiscard]] std::string Fingerprint(const StepPlan& plan, double sigma);

}  // namespace trefoil::ml
