#pragma once
#include <vector>

namespace trefoil::dp {

/// What the contribution of one example to a linear model's gradient sum is made of, all public. The gradient
/// of an example is the outer product of its row (with the mask bit as bias column) and its error e, per
/// output column.
struct LinearContribution {
  int frac_bits = 16;     ///< f: lattice of errors; rows lie on one of their own, within their bound there
  double row_norm = 1;    ///< R, bound on the lattice norm of a row, bias excluded
  int columns = 1;        ///< c, output columns
  double error_norm = 1;  ///< on the norm of an example's c errors, for every weight that the ring can hold
};

/// Bound on the norm of a row with its bias entry: sqrt(R^2 + 1).
[[nodiscard]] double RowBound(const LinearContribution& example);

/// Bound on the norm of the errors of an example once each of them is multiplied by the weight of its class,
/// `weight` at most, and truncated to the lattice: w E + sqrt(c) u.
[[nodiscard]] double WeightedErrorNorm(const LinearContribution& example, double weight);

/// Bound on ||row||^2 ||e||^2, with `slack` for the squared row norm's rounding up.
[[nodiscard]] double SquaredGradientBound(const LinearContribution& example, double slack);

/// Sensitivity certificates: the greatest norm Delta of one example's contribution, rounding included, in the
/// units of the clip. They hold for every coin of the truncations and every ring value of the weights; the
/// proofs are in docs/explanation/privacy.md, "Sensitivity". u = 2^-f is a unit of the errors, E the error
/// norm.

/// Nothing clipped, nothing truncated again: Delta = sqrt(R^2 + 1) E.
[[nodiscard]] double UnclippedSensitivity(const LinearContribution& example);

/// Factorised clipping: the error is multiplied by a factor <= min(1, C / (||row|| ||e||)) and truncated to a
/// lattice of its own, of `error_bits` fraction bits, which moves each of its c coordinates by less than
/// v = 2^-error_bits: Delta = min(C, sqrt(R^2 + 1) E) + sqrt(R^2 + 1) sqrt(c) v.
[[nodiscard]] double FactorisedSensitivity(const LinearContribution& example, double clip, int error_bits);

/// One layer of a network: the gradient of an example is the outer product of the layer's input (with the
/// mask bit) and the delta of its output.
struct LayerContribution {
  double input_norm = 1;  ///< N, on the norm of a row of inputs with its mask bit
  double delta_norm = 1;  ///< Q, on the norm of a row of deltas, for every weight that the ring can hold
  int outputs = 1;        ///< d
};

/// Bound on the sum over layers of ||input||^2 ||delta||^2, with `slack` for the rounding up of each factor.
[[nodiscard]] double SquaredGradientBound(const std::vector<LayerContribution>& layers, double slack);

/// Factorised clipping of a network: all deltas of an example are multiplied by one factor
/// <= min(1, C / sqrt(sum ||input||^2 ||delta||^2)) and truncated:
/// Delta = min(C, sqrt(sum N^2 Q^2)) + u sqrt(sum N^2 d).
[[nodiscard]] double FactorisedSensitivity(const std::vector<LayerContribution>& layers, int frac_bits,
                                           double clip);

/// The form that PEA publishes (Protocol 3): per-example gradients of `coordinates` entries
/// truncated to f bits, their squared norm plus one unit, an inverse square root at most (1 + relative) true
/// + units u, comparison, selection. With G = sqrt(R^2 + 1) E + sqrt(coordinates) u and the root
/// rho = sqrt(G^2 + 3u), Delta is the larger of
///   clipped:     min(C (1 + relative + rho units u) + rho u, G) + sqrt(coordinates) u,
///   not clipped: min((1 + relative) / ((1 - u) / C - units u), G).
[[nodiscard]] double PublishedSensitivity(const LinearContribution& example, double clip, double coordinates,
                                          double excess_relative, double excess_units);

}  // namespace trefoil::dp
