#pragma once
#include <array>
#include <cstdint>

namespace trefoil::dp {

/// How many rows each owner declared, and how many of them at most enter one step; and how many rows at most
/// are taken by one coin.
struct BatchLimits {
  std::array<std::int64_t, 3> capacity{};
  std::array<std::int64_t, 3> max_batch{};
  std::int64_t group_rows = 1;  ///< more than 1: the unit of privacy is a group of so many rows at most
};

/// An upper bound, at most 1e-6 above relatively (where it is below 1/4), on P[Bin(capacity, rate) >
/// max_batch]; 1 where max_batch is not above the mean.
///
/// Throws: ConfigError for a rate outside [0, 1] or a negative number.
[[nodiscard]] double PoissonOverflowProbability(std::int64_t capacity, double sampling_rate,
                                                std::int64_t max_batch);

/// An upper bound on the probability that more than `max_batch` of at most `capacity` rows are taken, which
/// lie in groups of at most `group_rows` rows, however these are made up, each group taken as a whole with
/// probability `sampling_rate`. One group a row: as PoissonOverflowProbability. Else Chernoff's,
///   exp(-(capacity / group_rows) KL(a || sampling_rate)),  a = (max_batch + 1) / capacity,
/// rounded up; 1 where a is not above the rate. Throws: ConfigError as PoissonOverflowProbability, and unless
/// group_rows is at least 1. Source: docs/privacy.md, "Groups".
[[nodiscard]] double GroupOverflowProbability(std::int64_t capacity, double sampling_rate,
                                              std::int64_t max_batch, std::int64_t group_rows);

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

/// The smallest limit with (1 + exp(epsilon)) * steps * GroupOverflowProbability <= delta / 2; at most
/// `capacity`.
[[nodiscard]] std::int64_t SmallestMaxBatch(double epsilon, double delta, std::int64_t steps,
                                            double sampling_rate, std::int64_t capacity,
                                            std::int64_t group_rows = 1);

}  // namespace trefoil::dp
