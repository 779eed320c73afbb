#include "dp/accounting/fourier.h"

#include <fftw3.h>

#include <bit>
#include <cmath>
#include <memory>
#include <mutex>

#include "base/error.h"

namespace trefoil::dp {
namespace {

/// FFTW's planner is one for the process.
std::mutex planner_mutex;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

struct DestroyPlan {
  void operator()(fftw_plan plan) const {
    const std::lock_guard lock(planner_mutex);
    fftw_destroy_plan(plan);
  }
};
using Plan = std::unique_ptr<fftw_plan_s, DestroyPlan>;

fftw_complex* ToFftw(std::vector<std::complex<double>>& numbers) {
  return reinterpret_cast<fftw_complex*>(numbers.data());
}

}  // namespace

Fourier::Fourier(std::size_t size) : size_(size) {
  Require(std::has_single_bit(size) && size >= 2 && size <= (std::size_t{1} << 30),
          "Fourier: a power of two from 2 to 2^30");
}

std::vector<std::complex<double>> Fourier::Forward(const std::vector<double>& values) const {
  Require(values.size() == size_, "Fourier::Forward: a vector of the transform's size");
  std::vector<double> input = values;
  std::vector<std::complex<double>> output(size_ / 2 + 1);
  Plan plan;
  {
    const std::lock_guard lock(planner_mutex);
    plan.reset(fftw_plan_dft_r2c_1d(static_cast<int>(size_), input.data(), ToFftw(output), FFTW_ESTIMATE));
  }
  fftw_execute(plan.get());
  return output;
}

std::vector<double> Fourier::Inverse(std::vector<std::complex<double>> coefficients) const {
  Require(coefficients.size() == size_ / 2 + 1, "Fourier::Inverse: half of the coefficients and one");
  std::vector<double> output(size_);
  Plan plan;
  {
    const std::lock_guard lock(planner_mutex);
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

}  // namespace trefoil::dp
