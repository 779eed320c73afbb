#pragma once
#include <vector>

#include "ml/plan/step_plan.h"
#include "mpc/cost.h"
#include "mpc/fixed_point.h"

namespace trefoil::ml {

struct Batch;

/// The parts of a DP-SGD step that a network has and a linear model has not (docs/reference/protocols.md,
/// "Hidden layers"). Layer l = 1 ... L maps A_{l-1} of B x (d_{l-1} + 1), A_0 = X, to Z_l = A_{l-1} W_l of B
/// x d_l; the last column of every A is the rows' mask bit m, so that padding rows are zero in all of them.
/// Whatever the weights are, entries of A lie in [0, activation_bound] and entries of a delta in +-
/// delta_bound.

/// A batch on its way up.
struct ForwardPass {
  std::vector<mpc::ArithShare> inputs;  ///< A_1 ... A_{L-1} at f bits
  std::vector<mpc::ArithShare> active;  ///< of hidden layers 1 ... L-1: 1 where an entry passes a gradient on
  mpc::AdditiveShare logits;            ///< Z_L at 2f bits
};

/// A_l = [min(max(Z_l, 0), activation_bound) | m], with Z_l truncated to f bits, Z_1 by those of rows and
/// modulo 2^row_bits. Of narrow rows m is what the labels of a row add up to, of which there are several then.
/// Cost: 12 rounds a hidden layer in bulk form, 5 in latency form.
[[nodiscard]] ForwardPass RunForward(mpc::Context& party, const StepPlan& plan, const Batch& batch,
                                     const mpc::FixedShare& weights);
[[nodiscard]] mpc::Cost RunForwardCost(const StepPlan& plan, mpc::Index rows);

/// delta_L = errors; delta_l = clamp of (delta_{l+1} W_{l+1}^T, the row of biases left out, truncated to f
/// bits) where layer l is active, and 0 elsewhere. One a layer, first to last, B x d_l at f bits.
/// Cost: 13 rounds a hidden layer in bulk form, 6 in latency form.
[[nodiscard]] std::vector<mpc::ArithShare> RunBackward(mpc::Context& party, const StepPlan& plan,
                                                       const ForwardPass& pass,
                                                       const mpc::FixedShare& weights,
                                                       const mpc::FixedShare& errors);

/// Each example's deltas times phi = min(1, C / sqrt(s)), never above, with
/// s = sum over layers of ||A_{l-1}||^2 ||delta_l||^2, both factors rounded up at row_norm_bits; modulo
/// 2^update_bits. Cost: 4 rounds and the clip factor's.
[[nodiscard]] std::vector<mpc::ArithShare> ClipPerExample(mpc::Context& party, const StepPlan& plan,
                                                          const Batch& batch, const ForwardPass& pass,
                                                          const std::vector<mpc::ArithShare>& deltas);

/// G_l = A_{l-1}^T delta'_l of all layers, one below the other and row by row: N x 1 exact integers on a
/// lattice of 2f bits, modulo 2^update_bits. Local.
[[nodiscard]] mpc::AdditiveShare SumGradients(mpc::Context& party, const StepPlan& plan, const Batch& batch,
                                              const ForwardPass& pass,
                                              const std::vector<mpc::ArithShare>& clipped);

/// All of these, with the predictions between them: what DpSgdStep adds noise to.
[[nodiscard]] mpc::AdditiveShare NetworkGradient(mpc::Context& party, const StepPlan& plan,
                                                 const Batch& batch, const mpc::FixedShare& weights);
[[nodiscard]] mpc::Cost NetworkGradientCost(const StepPlan& plan, mpc::Index batch_rows);

/// Computation that the hidden layers' comparisons are expected to take (protocols/cost_model.h).
[[nodiscard]] double HiddenLayersSeconds(const StepPlan& plan, mpc::Index batch_rows);

}  // namespace trefoil::ml
