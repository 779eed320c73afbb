#pragma once
#include <cstdint>

namespace trefoil::ml {

/// How the learning rate goes on from that of the first step.
enum class RateShape {
  kConstant,
  kLinear,  ///< down on a straight line, towards final_rate of it after the last step
  kCosine,  ///< the same on half a period of a cosine
  kStep,    ///< times decay_factor every decay_every steps
};

/// A schedule, public.
struct RateSchedule {
  RateShape shape = RateShape::kConstant;
  double final_rate = 0;         ///< kLinear, kCosine: a fraction, 0 to 1
  std::int64_t decay_every = 1;  ///< kStep: at least 1
  double decay_factor = 1;       ///< kStep: above 0, at most 1
};

/// The learning rate of step 0, 1, ... of `steps` in units of that of step 0, at scale 2^30. Integers only,
/// so that all parties get the same: two of them multiply a shared value by it.
[[nodiscard]] std::uint64_t RateAt(const RateSchedule& schedule, std::int64_t step, std::int64_t steps);

/// `peak` times that rate, rounded to the nearest integer, but never 0: a step that is paid for trains.
[[nodiscard]] std::uint64_t ScheduledMantissa(const RateSchedule& schedule, std::uint64_t peak,
                                              std::int64_t step, std::int64_t steps);

}  // namespace trefoil::ml
