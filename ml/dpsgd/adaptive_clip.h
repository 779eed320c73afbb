#pragma once
#include "base/secrets/random.h"
#include "ml/dpsgd/dp_sgd.h"
#include "ml/noise/noise_source.h"

namespace trefoil::ml {

/// A step on an adaptive clip (ml/plan/clip_grid.h; docs/explanation/privacy.md, "Adaptive clip"): of a plan
/// whose settings have one.

/// What a step on a batch sums.
struct ClippedSums {
  mpc::AdditiveShare gradient;  ///< of gradients times C / C_k, clipped to C; of ShapeOfWeights, as Gradient
  /// 1 x 1: records whose gradient is within C_k less those whose is not, in units of 2^-RowFractionBits, as
  /// mask bits have them, and, as they are, modulo 2^row_bits.
  mpc::AdditiveShare within;
};

/// E' = phi E'' with E'' = (C / C_k) E, truncated, and phi the clip factor to C; and for each row whether phi
/// is 1 (B x 1): what bounds a record's part of both sums, for every ring value of the errors' weights and
/// every coin.
struct AdaptivelyClipped {
  mpc::FixedShare errors;
  mpc::ArithShare within;
};
[[nodiscard]] AdaptivelyClipped ClipAdaptively(mpc::Context& party, const StepPlan& plan, const Batch& batch,
                                               const mpc::FixedShare& errors, int clip_at);

/// What a batch's rows add to `within`, each 1 or -1 times its mask bit, B x 1, modulo 2^row_bits; local.
[[nodiscard]] mpc::AdditiveShare SignedMasks(mpc::Context& party, const Batch& batch,
                                             const mpc::ArithShare& within);

/// The sums at the clip at point `clip_at`. A record adds at most lattice_sensitivity to the first and
/// exactly one, or minus one, to the second; a padding row nothing. Nothing is opened. Cost:
/// AdaptiveGradientCost.
[[nodiscard]] ClippedSums AdaptiveGradient(mpc::Context& party, const StepPlan& plan, const Batch& batch,
                                           const mpc::FixedShare& weights, int clip_at);
[[nodiscard]] mpc::Cost AdaptiveGradientCost(const StepPlan& plan, mpc::Index batch_rows);

/// A noisy `within` as it may be opened: in the top row_bits of a word, with zeros below. What its parts have
/// above row_bits says something of shares.
[[nodiscard]] mpc::AdditiveShare CountToOpen(const StepPlan& plan, const mpc::AdditiveShare& noisy);

/// This party's noise on a step's `within`, 1 x 1: of ClipCountVariance, or, where sigma is 0, none.
[[nodiscard]] StepNoise ClipCountNoise(const StepPlan& plan, double sigma, RandomStream& stream);

/// One party's noise for both sums.
struct StepNoises {
  const mpc::RingMatrix& gradient;  ///< of ShapeOfWeights
  const mpc::RingMatrix& within;    ///< 1 x 1
};

struct AdaptiveStepResult {
  TrainingState state;
  double within = 0;  ///< as opened: of records, noise included
};

/// One step on a batch at the clip of `state`, and the clip of the next one, by the noisy `within`, which all
/// three see. The update and the opening are beside each other.
/// Cost: AdaptiveStepCost. Throws: NetworkError, ProtocolError.
[[nodiscard]] AdaptiveStepResult AdaptiveStep(mpc::Context& party, const StepPlan& plan, const Batch& batch,
                                              const TrainingState& state, const StepNoises& own_noise);
[[nodiscard]] mpc::Cost AdaptiveStepCost(const StepPlan& plan, mpc::Index batch_rows);

}  // namespace trefoil::ml
