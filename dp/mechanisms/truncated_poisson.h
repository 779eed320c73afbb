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
/// group_rows is at least 1. Source: docs/explanation/privacy.md, "Groups".
[[nodiscard]] double GroupOverflowProbability(std::int64_t capacity, double sampling_rate,
                                              std::int64_t max_batch, std::int64_t group_rows);

/// The probability that the rows of all others leave no room in an owner's batch for the rows of `units`
/// records or groups, at most: that more than max_batch - m of at most capacity - m rows are taken, m the
/// rows of the units. The units are several owners' in the worst way: over these the probabilities add up.
/// Where there is room nothing is cut, and room depends on others' coins alone, so this is the chance of an
/// IndependentFailure. 0 where no batch is cut. Pre: units from 1. Source: docs/explanation/privacy.md,
/// "Truncated Poisson".
[[nodiscard]] double OverflowProbability(const BatchLimits& limits, double sampling_rate,
                                         std::int64_t units = 1);

/// The same where there are any number of owners, each with the first one's limits.
[[nodiscard]] double OverflowOfAnyOwners(const BatchLimits& limits, double sampling_rate,
                                         std::int64_t units = 1);

/// What is left of `delta` for the noise when batches cut at their limits, over `steps` steps, have been paid
/// for: delta - steps * OverflowProbability.
///
/// Throws: ConfigError where cutting would cost more than half of delta; the text names the party and the
///         smallest limit that suffices for it.
[[nodiscard]] double RemainingDelta(double delta, std::int64_t steps, double sampling_rate,
                                    const BatchLimits& limits);

/// The smallest limit with which cutting, over `steps` steps, costs at most half of delta; at most
/// `capacity`.
[[nodiscard]] std::int64_t SmallestMaxBatch(double delta, std::int64_t steps, double sampling_rate,
                                            std::int64_t capacity, std::int64_t group_rows = 1);

}  // namespace trefoil::dp
