#include "dp/mechanisms/radial_laplace_part.h"

#include <algorithm>
#include <cmath>

#include "dp/record/domain.h"

namespace trefoil::dp {
namespace {

// So fine that nothing is lost, and so coarse that 64 bits hold the mean of a geometric variable.
constexpr double kLargestMean = 0x1p60;
constexpr double kMinMean = 0x1p16;
// What every part's variance has more, so that a sum of two is one discrete Gaussian but for e^-600.
constexpr std::uint64_t kMinVariance = 64;
constexpr double kLargestNorm = 0x1p60;
// The norm of three parts is beyond so many scales more than 4 d' with probability below e^-60.
constexpr double kTailScales = 200;
// DiscreteGaussian rounds large variances up by so much.
constexpr double kVarianceRounding = 0x1p-47;

}  // namespace

RadialLaplacePart::RadialLaplacePart(std::int64_t coordinates, double sensitivity, double epsilon)
    : exponentials_(std::max<std::int64_t>(2, (coordinates + 4) / 4)) {
  CheckParameter(coordinates >= 1, "coordinates", static_cast<double>(coordinates), "at least 1");
  CheckParameter(sensitivity > 0 && sensitivity < kLargestNorm, "sensitivity", sensitivity,
                 "a positive number of lattice units");
  CheckParameter(epsilon >= 0x1p-20 && epsilon <= 1024, "epsilon", epsilon, "a number from 2^-20 to 1024");
  // Two parts' variance is twice a gamma variable of shape 2 * exponentials_ and mean s^2 each: exponential
  // variables of mean 2 s^2, s = sensitivity / epsilon.
  double mean = 2 * std::pow(sensitivity / epsilon, 2) * (1 + 1e-12);
  while (mean > kLargestMean) {
    mean /= 2;
    ++step_bits_;
  }
  CheckParameter(mean >= kMinMean, "noise variance in lattice units squared", mean,
                 "at least 2^16, by more fraction_bits");
  rate_ = {.numerator = 1, .denominator = static_cast<std::uint64_t>(std::ceil(mean))};
  // The rate's denominator was a double, too.
  scale_ = std::sqrt(std::ldexp(static_cast<double>(rate_.denominator), static_cast<int>(step_bits_)) / 2);
  epsilon_ = std::min(epsilon, sensitivity / scale_ * (1 + 1e-12));
  const auto count = static_cast<double>(exponentials_);
  failure_ = 2 * std::sqrt(static_cast<double>(coordinates) / 8) *
             (count / (count - 1) / static_cast<double>(rate_.denominator) + kVarianceRounding);
  CheckParameter(scale_ * (4 * static_cast<double>(dimensions()) + kTailScales) < kLargestNorm,
                 "privacy.epsilon", epsilon, "a larger one: the ring cannot hold the noise");
}

DiscreteGaussian RadialLaplacePart::DrawLaw(RandomStream& stream) const {
  Uint256 steps = 0;
  for (std::int64_t k = 0; k < exponentials_; ++k) steps += Uint256{SampleGeometric(stream, rate_)} + 1;
  return DiscreteGaussian((steps << step_bits_) + kMinVariance);
}

}  // namespace trefoil::dp
