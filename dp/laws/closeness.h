#pragma once
#include <cstdint>

#include "dp/accounting/accountant.h"

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

/// Accountants reckon with continuous Gaussians. A discrete one of deviation `deviation` (in lattice units),
/// in any number of coordinates, around any lattice point, is what rounding a continuous one of variance
/// deviation^2 - 4 at random gives, but for a density ratio of exp(+-1e-33) a coordinate, which is not
/// charged: so it has the noise multiplier of that one, `multiplier` * sqrt(1 - 4 / deviation^2). 0, that is
/// no guarantee, where nothing is left.
///
/// Throws: ConfigError for a deviation that is negative or not a number.
/// Source: docs/explanation/privacy.md, "Sums of discrete Gaussians"; the rounding is that of Peikert, "An
/// efficient and parallel Gaussian sampler for lattices" (2010), Theorem 3.1, with deviation 2.
[[nodiscard]] double ContinuousMultiplier(double multiplier, double deviation);

/// What `releases` sums of `coordinates` such values each are charged beside the Gaussian of their total
/// variance.
[[nodiscard]] MaxDivergence ClosenessCharge(int summands, double deviation, std::int64_t coordinates,
                                            std::int64_t releases);

}  // namespace trefoil::dp
