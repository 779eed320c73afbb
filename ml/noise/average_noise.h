#pragma once
#include <functional>

#include "base/secrets/random.h"
#include "ml/on_shares/average_plan.h"

namespace trefoil::ml {

/// This party's parts of a plan's noise: of every scale's, and of the smallest size's where that has some.
/// `stream` makes a stream of its own for each, RandomStream::FromSystem but in tests. Any two parties' parts
/// of scale g are discrete Laplace noise of rates[g] or, with a sigma, a sum of discrete Gaussians of
/// variance sigma^2 sensitivities[g]^2 (dp/laws/closeness.h).
void DrawNoise(const AveragePlan& plan, const std::function<RandomStream()>& stream, OwnAverage& own);

}  // namespace trefoil::ml
