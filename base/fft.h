#pragma once
#include <complex>
#include <cstddef>
#include <memory>
#include <vector>

namespace trefoil {

/// Complex numbers where FFTW wants them, aligned for its vector instructions.
class FftBuffer {
 public:
  /// `size` numbers, all zero.
  explicit FftBuffer(std::size_t size);

  [[nodiscard]] std::complex<float>* data() { return numbers_.get(); }
  [[nodiscard]] const std::complex<float>* data() const { return numbers_.get(); }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  struct Free {
    void operator()(std::complex<float>* numbers) const;
  };
  std::size_t size_;
  std::unique_ptr<std::complex<float>, Free> numbers_;
};

/// Two-dimensional Fourier transforms of one size, in single precision and in place. One object serves any
/// number of threads. The plan is chosen without measuring, so that equal input gives equal output in every
/// run on a machine. Source: FFTW 3 (M. Frigo, S. G. Johnson, 2005).
class Fft2d {
 public:
  /// Pre: rows and columns of at least 1.
  Fft2d(int rows, int columns);

  /// X[k] = sum_n x[n] exp(-2 pi i (k_0 n_0 / rows + k_1 n_1 / columns)), row by row.
  /// Pre: the buffer has rows * columns numbers.
  void Forward(FftBuffer& buffer) const;
  /// The same with +i; Backward(Forward(x)) is rows * columns * x.
  void Backward(FftBuffer& buffer) const;

 private:
  struct Plan;
  struct Destroy {
    void operator()(Plan* plan) const;
  };
  using PlanPointer = std::unique_ptr<Plan, Destroy>;

  [[nodiscard]] PlanPointer MakePlan(int sign) const;
  void Execute(const PlanPointer& plan, FftBuffer& buffer) const;

  int rows_;
  int columns_;
  PlanPointer forward_;
  PlanPointer backward_;
};

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

}  // namespace trefoil
