#include "ml/dpsgd/initial_weights.h"

#include <algorithm>
#include <cmath>

#include "dp/mechanisms/bernoulli.h"

namespace trefoil::ml {
namespace {

using mpc::Index;
using mpc::RingMatrix;
using mpc::Word;

/// The largest weight of a layer on the lattice.
Word Reach(const StepPlan& plan, std::size_t layer) {
  const TrainingSettings& s = plan.settings;
  double inputs = static_cast<double>(plan.layers[layer].inputs - 1);
  if (layer == 0) inputs = std::min(inputs, s.row_norm * s.row_norm + 1);
  return static_cast<Word>(
      std::floor(std::ldexp(std::min(std::sqrt(6 / inputs), kLargestInitialWeight), s.fraction_bits)));
}

}  // namespace

RingMatrix InitialWeights(const StepPlan& plan, RandomStream& coins) {
  const LayerShape shape = ShapeOfWeights(plan);
  RingMatrix weights = RingMatrix::Zero(shape.inputs, shape.outputs);
  if (!IsNetwork(plan)) return weights;
  Index first = 0;
  for (std::size_t layer = 0; layer < plan.layers.size(); ++layer) {
    const LayerShape& of = plan.layers[layer];
    const Word reach = Reach(plan, layer);
    const Index without_biases = of.weights() - of.outputs;  // the last row
    for (Index k = 0; k < without_biases; ++k)
      weights(first + k, 0) = dp::UniformBelow<std::uint64_t>(coins, 2 * reach + 1) - reach;
    first += of.weights();
  }
  return weights;
}

}  // namespace trefoil::ml
