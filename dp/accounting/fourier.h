#pragma once
#include <complex>
#include <cstddef>
#include <vector>

namespace trefoil::dp {

/// Discrete Fourier transforms of real vectors of one size, in double precision.
/// Error: every element of a result is within FourierError(size) times the sum of the absolute values of
///        what it is computed from (for Inverse, divided by the size), as each passes log2(size) stages.
/// Thread-safe. Pre: a power of two from 2 to 2^30.
class Fourier {
 public:
  explicit Fourier(std::size_t size);

  /// The size / 2 + 1 first coefficients; the others are their conjugates. Pre: `values` of this size.
  [[nodiscard]] std::vector<std::complex<double>> Forward(const std::vector<double>& values) const;
  /// The inverse, scaled. Pre: size / 2 + 1 coefficients.
  [[nodiscard]] std::vector<double> Inverse(std::vector<std::complex<double>> coefficients) const;

 private:
  std::size_t size_;
};

[[nodiscard]] double FourierError(std::size_t size);

}  // namespace trefoil::dp
