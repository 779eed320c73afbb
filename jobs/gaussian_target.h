#pragma once
#include <cstdint>
#include <functional>
#include <optional>

#include "dp/record/record.h"

namespace trefoil::jobs {

using dp::kAllOverTwo;

/// A vector that a job releases, once or several times, with Gaussian noise of every party, and what its job wants of the
/// noise.
struct GaussianTarget {
  std::int64_t releases = 1;
  std::int64_t coordinates = 0;
  std::uint64_t sensitivity = 0;    ///< in lattice units, L2
  std::optional<double> epsilon{};  ///< exactly one of epsilon and sigma
  std::optional<double> sigma{};    ///< noise multiplier
  double delta = 0;
  dp::AccountantKind accountant = dp::AccountantKind::kPld;
  bool insiders = true;  ///< whose epsilon the target is
};

/// The noise multiplier: as given, or the smallest whose epsilon, by the accountant, is within the target, rounded up
/// to a multiple of 2^-20. Throws ConfigError where none meets the target. Cost: with a target some dozens of
/// accountings.
[[nodiscard]] double SigmaOf(const GaussianTarget& target);
/// The same for what is charged as event(sigma).
[[nodiscard]] double SigmaOf(const GaussianTarget& target,
                             const std::function<dp::RecordedEvent(double sigma)>& event);

/// What the releases are charged at noise multiplier `sigma`.
[[nodiscard]] dp::GaussianReleases EventOf(const GaussianTarget& target, double sigma);

}  // namespace trefoil::jobs
