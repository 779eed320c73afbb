#pragma once
#include <functional>

namespace trefoil::dp {

/// The smallest noise multiplier, to 1e-4 relative and never below 0.01, with epsilon(multiplier) <=
/// target_epsilon; that holds for the returned value itself. `epsilon` falls with its argument and may be
/// infinite. The value is the one that halving the last of 1, 2, 4, ... and of 1/2, 1/4, ... ends with.
/// Cost: some seven calls of `epsilon` where its logarithm is smooth, at most 22 and one for each doubling.
/// Throws: ConfigError where no multiplier up to 1e7 will do.
[[nodiscard]] double SmallestNoiseMultiplier(double target_epsilon,
                                             const std::function<double(double)>& epsilon);

}  // namespace trefoil::dp
