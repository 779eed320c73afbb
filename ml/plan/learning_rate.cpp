#include "ml/plan/learning_rate.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "protocols/functions/sin_cos.h"

namespace trefoil::ml {
namespace {

constexpr int kRateBits = 30;
constexpr std::uint64_t kOne = std::uint64_t{1} << kRateBits;

std::uint64_t Fixed(double fraction) {
  return static_cast<std::uint64_t>(std::floor(std::ldexp(fraction, kRateBits)));
}

/// From 1 to final_rate as `down` goes from 0 to 1, both at scale 2^30.
std::uint64_t Between(const RateSchedule& schedule, std::uint64_t down) {
  return kOne - (((kOne - Fixed(schedule.final_rate)) * down) >> kRateBits);
}

/// (1 - cos(pi step / steps)) / 2.
std::uint64_t HalfCosine(std::uint64_t step, std::uint64_t steps) {
  const std::uint64_t half_turn = std::uint64_t{1} << 63;
  const std::int64_t cos = protocols::SinCosOfTurn(half_turn / steps * step).cos;
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(kOne) - cos) / 2;
}

/// factor^exponent, rounded down at each multiplication.
std::uint64_t Power(std::uint64_t factor, std::uint64_t exponent) {
  std::uint64_t power = kOne;
  for (; exponent > 0; exponent >>= 1) {
    if ((exponent & 1) != 0) power = (power * factor) >> kRateBits;
    factor = (factor * factor) >> kRateBits;
  }
  return power;
}

}  // namespace

std::uint64_t RateAt(const RateSchedule& schedule, std::int64_t step, std::int64_t steps) {
  const auto at = static_cast<std::uint64_t>(step);
  const auto all = static_cast<std::uint64_t>(steps);
  switch (schedule.shape) {
    case RateShape::kConstant:
      return kOne;
    case RateShape::kLinear:
      return Between(schedule, (at << kRateBits) / all);
    case RateShape::kCosine:
      return Between(schedule, HalfCosine(at, all));
    case RateShape::kStep:
      return Power(Fixed(schedule.decay_factor), at / static_cast<std::uint64_t>(schedule.decay_every));
  }
  throw ContractError("RateAt: unknown shape");
}

std::uint64_t ScheduledMantissa(const RateSchedule& schedule, std::uint64_t peak, std::int64_t step,
                                std::int64_t steps) {
  const std::uint64_t half = kOne / 2;
  return std::max<std::uint64_t>(1, (peak * RateAt(schedule, step, steps) + half) >> kRateBits);
}

}  // namespace trefoil::ml
