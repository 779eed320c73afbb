#pragma once

namespace trefoil::dp {

/// What the contribution of one example to a linear model's gradient sum is made of, all public. The gradient
/// of an example is the outer product of its row (with the mask bit as bias column) and its error e, per
/// output column.
struct LinearContribution {
  int frac_bits = 16;      ///< f: lattice of rows and errors; the sum lies on a lattice of 2f bits
  double row_norm = 1;     ///< R, bound on the lattice norm of a row, bias excluded
  int columns = 1;         ///< c, output columns
  double error_bound = 1;  ///< on |e_j|, for every weight that the ring can hold
};

/// Bound on the norm of a row with its bias entry: sqrt(R^2 + 1).
[[nodiscard]] double RowBound(const LinearContribution& example);

/// Bound on ||row||^2 ||e||^2, with `slack` for the squared row norm's rounding up.
[[nodiscard]] double SquaredGradientBound(const LinearContribution& example, double slack);

/// Sensitivity certificates: the greatest norm Delta of one example's contribution, rounding included, in the
/// units of the clip. They hold for every coin of the truncations and every ring value of the weights.

/// Factorised clipping: the error is multiplied by a factor <= min(1, C / (||row|| ||e||)) and truncated to
/// the lattice, which moves each of its c coordinates by less than 2^-f: Delta = C + sqrt(R^2 + 1) sqrt(c)
/// 2^-f.
[[nodiscard]] double FactorisedSensitivity(const LinearContribution& example, double clip);

/// Nothing clipped: Delta = sqrt(R^2 + 1) sqrt(c) max|e|.
[[nodiscard]] double UnclippedSensitivity(const LinearContribution& example);

/// The form that the seed publishes (PEA, Protocol 3): per-example gradients of `coordinates` entries
/// truncated to f bits, their squared norm plus one unit, an inverse square root at most (1 + relative) true
/// + units 2^-f, comparison, selection.
[[nodiscard]] double PublishedSensitivity(const LinearContribution& example, double clip, double coordinates,
                                          double excess_relative, double excess_units);

}  // namespace trefoil::dp
