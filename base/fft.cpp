#include "base/fft.h"

#include <fftw3.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <mutex>
#include <new>
#include <stdexcept>

#include "base/error.h"

namespace trefoil {
namespace {

/// FFTW makes and destroys plans one at a time in a process; executing them needs no lock. One lock serves
/// both precisions.
std::mutex& PlannerLock() {
  static std::mutex lock;
  return lock;
}

fftwf_complex* ToFftw(FftBuffer& buffer) { return reinterpret_cast<fftwf_complex*>(buffer.data()); }

struct DestroyRealPlan {
  void operator()(fftw_plan plan) const {
    const std::lock_guard lock(PlannerLock());
    fftw_destroy_plan(plan);
  }
};
using RealPlan = std::unique_ptr<fftw_plan_s, DestroyRealPlan>;

fftw_complex* ToFftw(std::vector<std::complex<double>>& numbers) {
  return reinterpret_cast<fftw_complex*>(numbers.data());
}

}  // namespace

FftBuffer::FftBuffer(std::size_t size)
    : size_(size), numbers_(reinterpret_cast<std::complex<float>*>(fftwf_alloc_complex(size))) {
  if (!numbers_) throw std::bad_alloc();
  std::fill_n(data(), size, std::complex<float>());
}

void FftBuffer::Free::operator()(std::complex<float>* numbers) const { fftwf_free(numbers); }

struct Fft2d::Plan {
  fftwf_plan plan;
};

void Fft2d::Destroy::operator()(Plan* plan) const {
  const std::lock_guard lock(PlannerLock());
  fftwf_destroy_plan(plan->plan);
  delete plan;
}

Fft2d::Fft2d(int rows, int columns)
    : rows_(rows), columns_(columns), forward_(MakePlan(FFTW_FORWARD)), backward_(MakePlan(FFTW_BACKWARD)) {}

Fft2d::PlanPointer Fft2d::MakePlan(int sign) const {
  Require(rows_ >= 1 && columns_ >= 1, "Fft2d: at least one row and one column");
  FftBuffer example(static_cast<std::size_t>(rows_) * static_cast<std::size_t>(columns_));
  auto* numbers = ToFftw(example);
  const std::lock_guard lock(PlannerLock());
  auto* plan = fftwf_plan_dft_2d(rows_, columns_, numbers, numbers, sign, FFTW_ESTIMATE);
  if (plan == nullptr) throw std::runtime_error("FFTW made no plan");
  return PlanPointer(new Plan{plan});
}

void Fft2d::Execute(const PlanPointer& plan, FftBuffer& buffer) const {
  Require(buffer.size() == static_cast<std::size_t>(rows_) * static_cast<std::size_t>(columns_),
          "Fft2d: a buffer of rows * columns numbers");
  fftwf_execute_dft(plan->plan, ToFftw(buffer), ToFftw(buffer));
}

void Fft2d::Forward(FftBuffer& buffer) const { Execute(forward_, buffer); }

void Fft2d::Backward(FftBuffer& buffer) const { Execute(backward_, buffer); }

Fourier::Fourier(std::size_t size) : size_(size) {
  Require(std::has_single_bit(size) && size >= 2 && size <= (std::size_t{1} << 30),
          "Fourier: a power of two from 2 to 2^30");
}

std::vector<std::complex<double>> Fourier::Forward(const std::vector<double>& values) const {
  Require(values.size() == size_, "Fourier::Forward: a vector of the transform's size");
  std::vector<double> input = values;
  std::vector<std::complex<double>> output(size_ / 2 + 1);
  RealPlan plan;
  {
    const std::lock_guard lock(PlannerLock());
    plan.reset(fftw_plan_dft_r2c_1d(static_cast<int>(size_), input.data(), ToFftw(output), FFTW_ESTIMATE));
  }
  fftw_execute(plan.get());
  return output;
}

std::vector<double> Fourier::Inverse(std::vector<std::complex<double>> coefficients) const {
  Require(coefficients.size() == size_ / 2 + 1, "Fourier::Inverse: half of the coefficients and one");
  std::vector<double> output(size_);
  RealPlan plan;
  {
    const std::lock_guard lock(PlannerLock());
    plan.reset(
        fftw_plan_dft_c2r_1d(static_cast<int>(size_), ToFftw(coefficients), output.data(), FFTW_ESTIMATE));
  }
  fftw_execute(plan.get());
  for (double& value : output) value /= static_cast<double>(size_);
  return output;
}

double FourierError(std::size_t size) {
  // Sixteen roundings a stage, where a butterfly takes about four, and some for what comes before and after.
  constexpr double kUnit = 0x1p-53;
  return 16 * (std::log2(static_cast<double>(size)) + 8) * kUnit;
}

}  // namespace trefoil
