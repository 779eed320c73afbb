#include "dp/mechanisms/discrete_gaussian.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "dp/record/domain.h"

namespace trefoil::dp {
namespace {

constexpr unsigned kMantissaBits = 48;

/// The exponent j of the proposal's scale 2^j: scale / deviation within [1 / sqrt(2), sqrt(2)], so that about
/// two of three proposals are kept.
unsigned LogScale(const Uint256& variance) {
  CheckParameter(variance >= 64, "noise variance in lattice units squared", variance.convert_to<double>(),
                 "at least 64, a deviation of 8 units");
  CheckParameter(variance <= (Uint256{1} << 124) / 1600, "noise variance in lattice units squared",
                 variance.convert_to<double>(), "40 deviations at most 2^62");
  return BitWidth(variance) / 2;
}

unsigned VarianceShift(unsigned log_scale) { return 2 * log_scale - std::min(kMantissaBits, 2 * log_scale); }

std::uint64_t RoundedUpMantissa(const Uint256& variance, unsigned shift) {
  const Uint256 rounded = (variance + (Uint256{1} << shift) - 1) >> shift;
  return rounded.convert_to<std::uint64_t>();
}

}  // namespace

DiscreteGaussian::DiscreteGaussian(const Uint256& variance_at_least)
    : log_scale_(LogScale(variance_at_least)),
      variance_shift_(VarianceShift(log_scale_)),
      lift_(variance_shift_ < log_scale_ ? log_scale_ - variance_shift_ : 0),
      mantissa_(RoundedUpMantissa(variance_at_least, variance_shift_)),
      // variance / scale, and 2 variance, in units of 2^-lift_ and 4^-lift_.
      centre_(Uint128{mantissa_} << (variance_shift_ + lift_ - log_scale_)),
      denominator_(Uint128{mantissa_} << (variance_shift_ + 2 * lift_ + 1)),
      proposal_(std::uint64_t{1} << log_scale_) {}

Uint256 DiscreteGaussian::variance() const { return Uint256{mantissa_} << variance_shift_; }

double DiscreteGaussian::deviation() const {
  const Uint256 root = sqrt(variance());
  // An integer below 2^53 is a double; a larger one is converted to the nearest, so one step down is surely
  // not above.
  const auto nearest = root.convert_to<double>();
  return Uint256(nearest) > root ? std::nextafter(nearest, 0.0) : nearest;
}

std::int64_t DiscreteGaussian::Sample(RandomStream& stream) const {
  constexpr Int128 kLargest = std::numeric_limits<std::int64_t>::max();
  for (;;) {
    const Int128 proposal = proposal_.Sample(stream);
    const Int128 magnitude = proposal < 0 ? -proposal : proposal;
    if (magnitude > kLargest) continue;
    if (AcceptsProposal(stream, static_cast<std::uint64_t>(magnitude)))
      return static_cast<std::int64_t>(proposal);
  }
}

void DiscreteGaussian::Sample(RandomStream& stream, std::span<std::int64_t> out) const {
  for (auto& value : out) value = Sample(stream);
}

bool DiscreteGaussian::AcceptsProposal(RandomStream& stream, std::uint64_t magnitude) const {
  const Uint128 lifted = Uint128{magnitude} << lift_;
  const Uint128 distance = lifted > centre_ ? lifted - centre_ : centre_ - lifted;
  if (distance >> 64 == 0) return BernoulliExp<Uint128>(stream, distance * distance, denominator_);
  const Uint256 wide{distance};
  return BernoulliExp<Uint256>(stream, wide * wide, Uint256{denominator_});
}

}  // namespace trefoil::dp
