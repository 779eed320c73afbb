#include "data/features/fft.h"

#include <fftw3.h>

#include <algorithm>
#include <mutex>
#include <new>
#include <stdexcept>

#include "base/error.h"

namespace trefoil::data {
namespace {

/// FFTW makes and destroys plans one at a time in a process; executing them needs no lock.
std::mutex& PlannerLock() {
  static std::mutex lock;
  return lock;
}

fftwf_complex* ToFftw(FftBuffer& buffer) { return reinterpret_cast<fftwf_complex*>(buffer.data()); }

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

}  // namespace trefoil::data
