#include "ml/dpsgd/hidden_layers.h"

#include <cmath>
#include <utility>

#include "ml/dpsgd/dp_sgd.h"
#include "protocols/arithmetic/multiply.h"
#include "protocols/arithmetic/truncate.h"
#include "protocols/cost_model.h"

namespace trefoil::ml {
namespace {

using mpc::ArithShare;
using mpc::FixedShare;
using mpc::Index;
using mpc::Word;
using protocols::PiecewisePolynomial;
using protocols::Range;

std::int64_t OnLattice(double bound, int frac_bits) {
  return static_cast<std::int64_t>(std::floor(std::ldexp(bound, frac_bits)));
}

/// Pieces a_0 + a_1 x without scales: nothing is truncated.
PiecewisePolynomial Between(std::int64_t low, std::int64_t high) {
  return {.thresholds = {low, high},
          .coefficients = {{low, 0}, {0, 1}, {high, 0}},
          .input_bits = 0,
          .last_shift = 0,
          .width = 64};
}

/// min(max(z, 0), activation_bound).
PiecewisePolynomial Rectifier(const StepPlan& plan) {
  return Between(0, OnLattice(plan.settings.activation_bound, plan.settings.fraction_bits));
}

PiecewisePolynomial DeltaClamp(const StepPlan& plan) {
  const std::int64_t bound = OnLattice(plan.settings.delta_bound, plan.settings.fraction_bits);
  return Between(-bound, bound);
}

/// What a table makes of x, and 1 where its piece is x itself.
struct Clamped {
  ArithShare values;
  ArithShare inside;
};

/// Exact for |x| < 2^62, which a truncation's result is whatever was truncated.
Clamped Clamp(mpc::Context& party, const PiecewisePolynomial& table, const ArithShare& x,
              protocols::Form form) {
  const ArithShare pieces = LookUp(party, table, x, form);
  const ArithShare inside = Reshaped(Rows(pieces, 1, 1), x.rows(), x.cols());
  const ArithShare ends = Reshaped(Rows(pieces, 0, 1), x.rows(), x.cols());
  return {.values = protocols::Multiply(party, inside, x) + ends, .inside = inside};
}

mpc::Cost ClampCost(const PiecewisePolynomial& table, Index count, protocols::Form form) {
  return Then(LookUpCost(table, count, form), protocols::MultiplyCost(count));
}

/// W_l of layer number l (from 0) out of all weights.
ArithShare WeightsOf(const StepPlan& plan, const FixedShare& weights, std::size_t layer) {
  Index first = 0;
  for (std::size_t before = 0; before < layer; ++before) first += plan.layers[before].weights();
  const LayerShape& shape = plan.layers[layer];
  return Reshaped(Rows(weights.ring(), first, shape.weights()), shape.inputs, shape.outputs);
}

/// One below the other.
mpc::AdditiveShare Stacked(const mpc::AdditiveShare& top, const mpc::AdditiveShare& bottom) {
  return mpc::AdditiveShare(mpc::Stacked(top.part(), bottom.part()));
}

/// ||.||^2 of the rows of every A but X and of every delta, at row_norm_bits and never below the exact one:
/// B x 1 each, in that order.
std::vector<ArithShare> SquaredNorms(mpc::Context& party, const StepPlan& plan, const ForwardPass& pass,
                                     const std::vector<ArithShare>& deltas) {
  mpc::AdditiveShare exact;
  for (const ArithShare& inputs : pass.inputs)
    exact = Stacked(exact, protocols::LocalRowInnerProducts(party, inputs, inputs));
  for (const ArithShare& delta : deltas)
    exact = Stacked(exact, protocols::LocalRowInnerProducts(party, delta, delta));
  const int shift = 2 * plan.settings.fraction_bits - plan.row_norm_bits;
  // A truncation is above its argument less a unit.
  const ArithShare rounded_up = AddPublic(
      party, protocols::Truncate(party, exact, shift, Range::kSigned, plan.settings.truncation), Word{1});
  std::vector<ArithShare> norms;
  const Index rows = deltas.front().rows();
  for (Index first = 0; first < rounded_up.rows(); first += rows)
    norms.push_back(Rows(rounded_up, first, rows));
  return norms;
}

Index DeltasOfARow(const StepPlan& plan) {
  Index sum = 0;
  for (const LayerShape& layer : plan.layers) sum += layer.outputs;
  return sum;
}

/// 1 of a record, 0 of padding, at f bits in whole words: narrow rows have theirs modulo 2^k alone.
ArithShare MaskBitsInWords(const StepPlan& plan, const Batch& batch) {
  if (!batch.narrow_x) return (Word{1} << RowShift(plan)) * Columns(batch.x.ring(), batch.x.cols() - 1, 1);
  if (MaskBitsBeside(plan)) return batch.mask_bits;
  const ArithShare& labels = batch.y.ring();  // of which one is 1
  return {labels.own().rowwise().sum(), labels.next().rowwise().sum()};
}

/// Modulo what the layer's product is known.
int BitsOfLayer(const StepPlan& plan, std::size_t layer) { return layer == 0 ? plan.row_bits : 64; }

/// By how many bits the layer's product is truncated: its inputs'.
int ShiftOfLayer(const StepPlan& plan, std::size_t layer) {
  return layer == 0 ? RowFractionBits(plan.settings) : plan.settings.fraction_bits;
}

}  // namespace

ForwardPass RunForward(mpc::Context& party, const StepPlan& plan, const Batch& batch,
                       const FixedShare& weights) {
  const ArithShare mask = MaskBitsInWords(plan, batch);
  ForwardPass pass;
  for (std::size_t layer = 0; layer + 1 < plan.layers.size(); ++layer) {
    const ArithShare of_layer = WeightsOf(plan, weights, layer);
    const mpc::AdditiveShare product =
        layer == 0 ? BatchLogits(party, batch, {of_layer, weights.frac_bits()})
                   : protocols::LocalMatrixProduct(party, pass.inputs.back(), of_layer);
    const ArithShare z =
        protocols::TruncateNarrow(party, product, ShiftOfLayer(plan, layer),
                                  {.width = BitsOfLayer(plan, layer)}, plan.settings.truncation);
    Clamped rectified = Clamp(party, Rectifier(plan), z, plan.clip.form);
    pass.inputs.push_back(SideBySide(rectified.values, mask));
    pass.active.push_back(std::move(rectified.inside));
  }
  pass.logits = protocols::LocalMatrixProduct(party, pass.inputs.back(),
                                              WeightsOf(plan, weights, plan.layers.size() - 1));
  return pass;
}

mpc::Cost RunForwardCost(const StepPlan& plan, Index rows) {
  mpc::Cost cost;
  for (std::size_t layer = 0; layer + 1 < plan.layers.size(); ++layer) {
    const Index count = rows * plan.layers[layer].outputs;
    const mpc::Cost product = protocols::TruncateNarrowCost(
        count, ShiftOfLayer(plan, layer), plan.settings.truncation, BitsOfLayer(plan, layer));
    cost = Then(Then(cost, product), ClampCost(Rectifier(plan), count, plan.clip.form));
  }
  return cost;
}

std::vector<ArithShare> RunBackward(mpc::Context& party, const StepPlan& plan, const ForwardPass& pass,
                                    const FixedShare& weights, const FixedShare& errors) {
  std::vector<ArithShare> deltas(plan.layers.size());
  deltas.back() = errors.ring();
  for (std::size_t layer = plan.layers.size() - 1; layer > 0; --layer) {
    const ArithShare without_biases = Rows(WeightsOf(plan, weights, layer), 0, plan.layers[layer].inputs - 1);
    const ArithShare back = protocols::MatMulTruncate(party, deltas[layer], Transposed(without_biases),
                                                      plan.settings.fraction_bits, plan.settings.truncation);
    const ArithShare passed = protocols::Multiply(party, back, pass.active[layer - 1]);
    deltas[layer - 1] = Clamp(party, DeltaClamp(plan), passed, plan.clip.form).values;
  }
  return deltas;
}

std::vector<ArithShare> ClipPerExample(mpc::Context& party, const StepPlan& plan, const Batch& batch,
                                       const ForwardPass& pass, const std::vector<ArithShare>& deltas) {
  const std::vector<ArithShare> norms = SquaredNorms(party, plan, pass, deltas);
  const std::size_t layers = plan.layers.size();
  mpc::AdditiveShare sum = protocols::LocalProduct(party, batch.squared_norms, norms[layers - 1]);
  for (std::size_t layer = 1; layer < layers; ++layer)
    sum = sum + protocols::LocalProduct(party, norms[layer - 1], norms[layers - 1 + layer]);
  const ArithShare factors = protocols::ClipFactor(party, plan.clip, sum);
  ArithShare all = deltas.front();
  for (std::size_t layer = 1; layer < layers; ++layer) all = SideBySide(all, deltas[layer]);
  const ArithShare clipped =
      TimesFactors(party, plan, {std::move(all), plan.settings.fraction_bits}, factors).ring();
  std::vector<ArithShare> of_layers;
  Index first = 0;
  for (const ArithShare& delta : deltas) {
    of_layers.push_back(Columns(clipped, first, delta.cols()));
    first += delta.cols();
  }
  return of_layers;
}

mpc::AdditiveShare SumGradients(mpc::Context& party, const StepPlan& plan, const Batch& batch,
                                const ForwardPass& pass, const std::vector<ArithShare>& clipped) {
  mpc::AdditiveShare all;
  for (std::size_t layer = 0; layer < clipped.size(); ++layer) {
    const mpc::AdditiveShare gradient =
        layer == 0 ? (Word{1} << RowShift(plan)) *
                         SumGradients(party, batch, {clipped[0], plan.settings.fraction_bits})
                   : protocols::LocalTransposedProduct(party, pass.inputs[layer - 1], clipped[layer]);
    const Index weights = gradient.rows() * gradient.cols();
    all = Stacked(all, mpc::AdditiveShare(mpc::Reshaped(gradient.part(), weights, 1)));
  }
  return all;
}

mpc::AdditiveShare NetworkGradient(mpc::Context& party, const StepPlan& plan, const Batch& batch,
                                   const FixedShare& weights) {
  const ForwardPass pass = RunForward(party, plan, batch, weights);
  const FixedShare errors = PredictionErrors(party, plan, batch, pass.logits);
  const auto deltas = RunBackward(party, plan, pass, weights, errors);
  return SumGradients(party, plan, batch, pass, ClipPerExample(party, plan, batch, pass, deltas));
}

mpc::Cost NetworkGradientCost(const StepPlan& plan, Index batch_rows) {
  const int f = plan.settings.fraction_bits;
  const protocols::Rounding rounding = plan.settings.truncation;
  const protocols::Form form = plan.clip.form;
  mpc::Cost cost = Then(RunForwardCost(plan, batch_rows), PredictionErrorsCost(plan, batch_rows));
  for (std::size_t layer = plan.layers.size() - 1; layer > 0; --layer) {
    const Index count = batch_rows * plan.layers[layer - 1].outputs;
    cost =
        Then(Then(cost, protocols::TruncateProductCost(count, f, rounding)), protocols::MultiplyCost(count));
    cost = Then(cost, ClampCost(DeltaClamp(plan), count, form));
  }
  const Index norms = batch_rows * static_cast<Index>(2 * plan.layers.size() - 1);
  cost = Then(cost, protocols::TruncateProductCost(norms, 2 * f - plan.row_norm_bits, rounding));
  cost = Then(cost, ClipFactorCost(plan.clip, batch_rows));
  return Then(cost, protocols::TruncateNarrowCost(batch_rows * DeltasOfARow(plan), protocols::kClipFactorBits,
                                                  rounding, 64, plan.update_bits));
}

double HiddenLayersSeconds(const StepPlan& plan, Index batch_rows) {
  constexpr int kComparisons = 4;  // two thresholds each of the rectifier and of the clamp
  const Index hidden = DeltasOfARow(plan) - plan.columns;
  if (hidden == 0) return 0;
  return protocols::ComparisonSeconds(plan.clip.form, batch_rows * hidden, kComparisons, 64);
}

}  // namespace trefoil::ml
