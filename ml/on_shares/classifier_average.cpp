#include "ml/on_shares/classifier_average.h"

#include <algorithm>
#include <bit>

#include "base/error.h"
#include "protocols/arithmetic/input.h"
#include "protocols/arithmetic/multiply.h"
#include "protocols/arithmetic/truncate.h"
#include "protocols/comparison/threshold_comparison.h"
#include "protocols/functions/maximum.h"

namespace trefoil::ml {
namespace {

using mpc::ArithShare;
using mpc::Index;
using mpc::RingMatrix;
using mpc::Word;

std::array<protocols::Shape, 3> ShapesOf(const AverageShape& shape, Index cols) {
  std::array<protocols::Shape, 3> shapes{};
  for (std::size_t j = 0; j < shapes.size(); ++j) shapes.at(j) = {.rows = shape.owners.at(j), .cols = cols};
  return shapes;
}

/// What all owners input, a row each, in the order of the parties.
ArithShare InputRows(mpc::Context& party, const AverageShape& shape, const RingMatrix& own) {
  return StackedColumns(protocols::InputEach(party, own, ShapesOf(shape, own.cols())), 0, own.cols());
}

void CheckShapes(const mpc::Context& party, const AverageShape& shape, const OwnAverage& own,
                 Index noise_rows) {
  const Index owners = shape.owners.at(static_cast<std::size_t>(party.self()));
  Require(shape.all_owners() >= 1 && own.sizes.rows() == owners && own.sizes.cols() == 1,
          "NoisyClassifierSum: a size for each owner");
  Require(own.weights.rows() == 1 && own.weights.cols() == shape.weights,
          "NoisyClassifierSum: one row of weights");
  Require(own.noise.values().rows() == noise_rows && own.noise.values().cols() == shape.weights,
          "NoisyClassifierSum: noise for every weight");
}

/// The sum and the row of `noise` that `chosen` (a row with one 1) has its 1 for, in one round.
ArithShare AddChosen(mpc::Context& party, const ArithShare& sum, const ArithShare& chosen,
                     const ArithShare& noise) {
  return protocols::Reshare(party, ToAdditive(sum) + protocols::LocalMatrixProduct(party, chosen, noise));
}

/// Of thresholds' bits, a row each: 1 for the first if all are below, then for the last that is not.
ArithShare ChosenScale(mpc::Context& party, const ArithShare& below) {
  const ArithShare everything = AddPublic(party, ArithShare::Zero(1, 1), Word{1});
  return Transposed(Stacked(below, everything) - Stacked(ArithShare::Zero(1, 1), below));
}

}  // namespace

ArithShare NoisyClassifierSum(mpc::Context& party, const AverageShape& shape, const OwnAverage& own) {
  const auto scales = static_cast<Index>(shape.min_sizes.size());
  Require(scales >= 1, "NoisyClassifierSum: at least one noise");
  CheckShapes(party, shape, own, scales);
  const ArithShare sizes = Transposed(InputRows(party, shape, own.sizes));
  StepNoise rows(scales + 1, shape.weights);
  rows.values() << own.noise.values(), own.weights;
  const ArithShare shared = protocols::InputSum(party, rows.values());
  const ArithShare noise = Rows(shared, 0, scales);
  const ArithShare sum = Rows(shared, scales, 1);
  if (scales == 1) return noise + sum;
  ArithShare smallest = -protocols::RowMaximum(party, -sizes, shape.width);
  if (shape.noisy_size) smallest = smallest + protocols::InputSum(party, own.size_noise.values());
  smallest = AddPublic(party, smallest, static_cast<Word>(-shape.margin));
  const std::vector<std::int64_t> thresholds(shape.min_sizes.begin() + 1, shape.min_sizes.end());
  const ArithShare below = protocols::BelowThresholds(party, smallest, thresholds, shape.width);
  return AddChosen(party, sum, ChosenScale(party, below), noise);
}

mpc::Cost NoisyClassifierSumCost(const AverageShape& shape) {
  const auto scales = static_cast<Index>(shape.min_sizes.size());
  mpc::Cost cost = Then(protocols::InputEachCost(ShapesOf(shape, 1)),
                        protocols::InputSumCost((scales + 1) * shape.weights));
  if (scales == 1) return cost;
  cost = Then(cost, protocols::RowMaximumCost(1, shape.all_owners(), shape.width));
  if (shape.noisy_size) cost = ThenUnturned(cost, protocols::InputSumCost(1));
  cost = Then(cost, protocols::BelowThresholdsCost(1, shape.min_sizes.size() - 1, shape.width));
  return Then(cost, protocols::ReshareCost(shape.weights));
}

ArithShare AverageOfSum(mpc::Context& party, const AverageShape& shape, const ArithShare& sum, int sum_bits) {
  constexpr int kTruncatedBits = 61;
  Require(sum_bits >= 1 && sum_bits <= kMaxSumBits && sum.cols() == shape.weights,
          "AverageOfSum: a sum of weights, of few bits");
  // The greatest shift with sum * factor within 2^61; a factor of 2^12 and more is rounded by 2^-13 at most.
  const auto owners = static_cast<std::uint64_t>(shape.all_owners());
  const int shift = std::min(kTruncatedBits - sum_bits + static_cast<int>(std::bit_width(owners)) - 1, 62);
  const Word factor = ((Word{1} << shift) + owners / 2) / owners;
  return protocols::Truncate(party, factor * sum, shift);
}

mpc::Cost AverageOfSumCost(const AverageShape& shape) { return protocols::TruncateCost(shape.weights); }

ArithShare PublishedClassifierSum(mpc::Context& party, const AverageShape& shape, const OwnAverage& own) {
  CheckShapes(party, shape, own, shape.owners.at(static_cast<std::size_t>(party.self())));
  const ArithShare sizes = Transposed(InputRows(party, shape, own.sizes));
  const ArithShare noise = InputRows(party, shape, own.noise.values());
  const ArithShare sum = protocols::InputSum(party, own.weights);
  return AddChosen(party, sum, protocols::RowArgMax(party, -sizes, shape.width), noise);
}

mpc::Cost PublishedClassifierSumCost(const AverageShape& shape) {
  const mpc::Cost inputs = Then(protocols::InputEachCost(ShapesOf(shape, 1)),
                                protocols::InputEachCost(ShapesOf(shape, shape.weights)));
  const mpc::Cost chosen = Then(Then(inputs, protocols::InputSumCost(shape.weights)),
                                protocols::RowArgMaxCost(1, shape.all_owners(), shape.width));
  return Then(chosen, protocols::ReshareCost(shape.weights));
}

}  // namespace trefoil::ml
