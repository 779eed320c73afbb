#pragma once
#include <functional>

namespace trefoil::dp {

/// The smallest noise multiplier, to 1e-4 relative and never below 0.01, with epsilon(multiplier) <=
/// target_epsilon; that holds for the returned value itself. `epsilon` falls with its argument and may be
/// infinite. The value is that of a plain search: 1 is doubled or halved until the answer lies between the
/// last two, and their range is halved, in logarithms, down to 1e-4.
/// Cost: some seven calls of `epsilon` where its logarithm is smooth; at most 22, and one for each time that
/// 1 is doubled or halved.
/// Throws: ConfigError where no multiplier up to 1e7 will do.
[[nodiscard]] double SmallestNoiseMultiplier(double target_epsilon,
                                             const std::function<double(double)>& epsilon);

}  // namespace trefoil::dp
