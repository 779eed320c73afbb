#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "ml/plan/step_plan.h"
#include "mpc/ring.h"

namespace trefoil::reference {

/// The logits at 2f bits that a model gives an encoded row (its entries and the mask bit at f bits), one sum
/// of integers after the other: what classification on shares is compared with. Exact truncation in a
/// network's layers.
inline std::vector<std::int64_t> PlainLogits(const ml::StepPlan& plan, const mpc::RingMatrix& encoded,
                                             mpc::Index row, const mpc::RingMatrix& weights) {
  const int f = plan.settings.fraction_bits;
  const auto bound = static_cast<std::int64_t>(std::ldexp(plan.settings.activation_bound, f));
  const std::int64_t mask = mpc::Signed(encoded(row, plan.settings.features));
  std::vector<std::int64_t> at;
  for (mpc::Index k = 0; k < plan.settings.features; ++k) at.push_back(mpc::Signed(encoded(row, k)));
  mpc::Index first = 0;
  std::vector<std::int64_t> sums;
  for (const ml::LayerShape& layer : plan.layers) {
    at.push_back(mask);
    sums.assign(static_cast<std::size_t>(layer.outputs), 0);
    for (mpc::Index input = 0; input < layer.inputs; ++input) {
      for (mpc::Index output = 0; output < layer.outputs; ++output) {
        const mpc::Index k = first + input * layer.outputs + output;
        const std::int64_t weight = mpc::Signed(IsNetwork(plan) ? weights(k, 0) : weights(input, output));
        sums[static_cast<std::size_t>(output)] += weight * at[static_cast<std::size_t>(input)];
      }
    }
    first += layer.weights();
    at.clear();
    for (const std::int64_t sum : sums) at.push_back(std::clamp<std::int64_t>(sum >> f, 0, bound));
  }
  return sums;
}

/// Whether a logit of such a model means a prediction above this one.
inline bool IsAbove(const ml::StepPlan& plan, std::int64_t logit, double prediction) {
  const bool squared = plan.settings.loss == ml::Loss::kSquared;
  const double decision = squared ? prediction - 0.5 : std::log(prediction / (1 - prediction));
  return logit > std::llround(std::ldexp(decision, 2 * plan.settings.fraction_bits));
}

/// The class that the model gives the row.
inline int PlainClass(const ml::StepPlan& plan, const mpc::RingMatrix& encoded, mpc::Index row,
                      const mpc::RingMatrix& weights) {
  const auto logits = PlainLogits(plan, encoded, row, weights);
  if (logits.size() == 1) return IsAbove(plan, logits[0], plan.settings.threshold) ? 1 : 0;
  return static_cast<int>(std::max_element(logits.begin(), logits.end()) - logits.begin());
}

/// The label that an encoded row carries.
inline int PlainLabel(const ml::StepPlan& plan, const mpc::RingMatrix& encoded, mpc::Index row) {
  const mpc::Index first = plan.settings.features + 1;
  if (plan.columns == 1) return encoded(row, first) != 0 ? 1 : 0;
  for (int label = 0; label < plan.columns; ++label) {
    if (encoded(row, first + label) != 0) return label;
  }
  return -1;
}

/// Records among the encoded rows that a model classifies correctly; padding is none.
inline std::int64_t PlainCorrect(const ml::StepPlan& plan, const mpc::RingMatrix& encoded,
                                 const mpc::RingMatrix& weights) {
  std::int64_t correct = 0;
  for (mpc::Index row = 0; row < encoded.rows(); ++row) {
    if (encoded(row, plan.settings.features) == 0) continue;
    correct += PlainClass(plan, encoded, row, weights) == PlainLabel(plan, encoded, row) ? 1 : 0;
  }
  return correct;
}

}  // namespace trefoil::reference
