#pragma once
#include "bench/operations.h"
#include "ml/on_shares/classifier_average.h"
#include "ml/on_shares/ensemble_transfer.h"

namespace trefoil::bench {

/// What averages are measured with: five owners, and 16 noises to choose from.
[[nodiscard]] ml::AverageShape AverageShapeFor(mpc::Index weights);

/// What a step on votes is measured with: 100 owners' votes for shape.rows rows of shape.inner features.
[[nodiscard]] ml::TransferPlan TransferPlanFor(const ProductShape& shape);

/// A width that noisy counts of votes fit.
inline constexpr int kVoteWidth = 40;

/// Counts, votes, sums of classifiers and steps on votes: what jobs that release one noisy result do on
/// shares.
[[nodiscard]] std::vector<Operation> ReleaseOperations();

}  // namespace trefoil::bench
