#pragma once

namespace trefoil::dp {

/// How sums of charges are rounded, so that no epsilon is below the exact one.

/// More than the relative error of a product or quotient of a few doubles, or of a function of the C library
/// beside them: what bounds are multiplied by 1 + this for.
inline constexpr double kClosedFormError = 0x1p-50;

/// The next double above; 0 stays 0, being exact. Pre: not below 0.
[[nodiscard]] double Above(double value);

/// sum + count * each, not below the exact one, above it by a unit in the last place at most, and the exact
/// one where a double is it. Pre: none of them below 0.
[[nodiscard]] double SumAbove(double sum, double count, double each);

/// numerator / denominator, not below the exact one, above it by a unit in the last place at most, and the
/// exact one where a double is it. Pre: both above 0.
[[nodiscard]] double QuotientAbove(double numerator, double denominator);

/// What is left of delta within a factor exp(+-divergence) of the densities: delta exp(-divergence), not
/// above the exact one, and delta itself without a divergence. Pre: neither below 0.
[[nodiscard]] double DeltaWithin(double delta, double divergence);

}  // namespace trefoil::dp
