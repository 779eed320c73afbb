#pragma once
#include <array>
#include <cstdint>

namespace trefoil::dp {

/// How many rows each owner declared, and how many of them at most enter one step.
struct BatchLimits {
  std::array<std::int64_t, 3> capacity{};
  std::array<std::int64_t, 3> max_batch{};
};

/// An upper bound, at most 1e-6 above relatively (where it is below 1/4), on P[Bin(capacity, rate) >
/// max_batch]; 1 where max_batch is not above the mean.
///
/// Throws: ConfigError for a rate outside [0, 1] or a negative number.
[[nodiscard]] double PoissonOverflowProbability(std::int64_t capacity, double sampling_rate,
                                                std::int64_t max_batch);

/// The largest of the owners' overflow probabilities. Only the owner of the record by which two data sets
/// differ draws differently in the two, so the largest is what one step is charged, not the sum.
[[nodiscard]] double OverflowProbability(const BatchLimits& limits, double sampling_rate);

/// What is left of `delta` for the noise when batches cut at their limits, over `steps` steps, have been paid
/// for:
///   delta - (1 + exp(epsilon)) * steps * OverflowProbability.
///
/// Throws: ConfigError where cutting would cost more than half of delta; the text names the party and the
/// smallest
///         limit that suffices for it.
/// Source: a mechanism within total variation t of an (epsilon, delta') one is (epsilon, delta' + (1 +
/// e^epsilon) t).
[[nodiscard]] double RemainingDelta(double epsilon, double delta, std::int64_t steps, double sampling_rate,
                                    const BatchLimits& limits);

/// The smallest limit with (1 + exp(epsilon)) * steps * PoissonOverflowProbability <= delta / 2; at most
/// `capacity`.
[[nodiscard]] std::int64_t SmallestMaxBatch(double epsilon, double delta, std::int64_t steps,
                                            double sampling_rate, std::int64_t capacity);

}  // namespace trefoil::dp
