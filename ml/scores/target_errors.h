#pragma once
#include <optional>
#include <span>

/// How far predictions of numbers are from what is true.
namespace trefoil::ml {

/// The root of the mean squared error, in the target's units. Pre: as many predictions as targets, at least
/// one.
[[nodiscard]] double RootMeanSquaredError(std::span<const double> targets,
                                          std::span<const double> predictions);

/// R²: 1 less the squared errors' sum over that of the targets' differences from their mean. 1 is without
/// error, 0 is as good as saying that mean always, and worse is below. Nothing where all targets are equal.
/// Pre: as above.
[[nodiscard]] std::optional<double> RSquared(std::span<const double> targets,
                                             std::span<const double> predictions);

}  // namespace trefoil::ml
