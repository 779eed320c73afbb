#pragma once
#include <complex>
#include <cstddef>
#include <memory>

namespace trefoil::data {

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

}  // namespace trefoil::data
