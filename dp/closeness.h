#pragma once
#include <cstdint>

#include "dp/accountant.h"

namespace trefoil::dp {

/// An upper bound on |log(P(x) / Q(x))| for every integer x, where P is the sum of `summands` independent
/// discrete Gaussians of deviation `deviation` (in lattice units) and Q the one discrete Gaussian of the same
/// variance:
///   10 * sum_{k = 1}^{summands - 1} exp(-2 pi^2 deviation^2 k / (k + 1)).
/// Zero for one summand; infinity below deviation 1/2, where the bound is not proved.
///
/// Throws: ConfigError for fewer than one summand, or a deviation that is negative or not a number.
/// Source: Kairouz, Liu, Steinke, "The distributed discrete Gaussian mechanism" (2021), section 3.
[[nodiscard]] double ClosenessPerCoordinate(int summands, double deviation);

/// What `releases` sums of `coordinates` such values each are charged beside the Gaussian of their total
/// variance.
[[nodiscard]] MaxDivergence ClosenessCharge(int summands, double deviation, std::int64_t coordinates,
                                            std::int64_t releases);

}  // namespace trefoil::dp
