#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "dp/record/record.h"
#include "jobs/config/fields.h"
#include "jobs/records/schema.h"
#include "ml/plan/settings.h"

namespace trefoil::jobs {

using dp::kAllOverTwo;

/// What a job wants of noise and release that opens one vector, once or several times, with Gaussian noise of
/// every party, and how `local` cuts its data: the settings of such a type begin with it.
struct GaussianSettings {
  std::optional<double> epsilon{};  ///< exactly one of epsilon and sigma
  std::optional<double> sigma{};
  double delta = 0;
  dp::AccountantKind accountant = dp::AccountantKind::kPld;
  ml::Adversary against = ml::Adversary::kInsider;
  std::vector<int> to{0, 1, 2};
  LocalSpec local;
};

/// The lines of help that differ between types.
struct GaussianHelp {
  const char* privacy;
  const char* target;
  const char* sigma;
  const char* to;
  const char* local;
};

/// [privacy], to which `more` may add keys, [release] and [local].
void GaussianTables(FieldVisitor& v, GaussianSettings& s, const GaussianHelp& help,
                    const FieldVisitor::Part& more = {});

/// A vector that a job releases, once or several times, with Gaussian noise of every party, and what its job
/// wants of the noise.
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

/// For `releases` vectors of so many coordinates and of this sensitivity.
[[nodiscard]] GaussianTarget TargetOf(const GaussianSettings& settings, std::int64_t coordinates,
                                      std::uint64_t sensitivity, std::int64_t releases = 1);

/// The noise multiplier: as given, or the smallest whose epsilon, by the accountant, is within the target,
/// rounded up to a multiple of 2^-20. Throws ConfigError where none meets the target. Cost: with a target
/// some dozens of accountings.
[[nodiscard]] double SigmaOf(const GaussianTarget& target);
/// The same for what is charged as event(sigma).
[[nodiscard]] double SigmaOf(const GaussianTarget& target,
                             const std::function<dp::RecordedEvent(double sigma)>& event);

/// What the releases are charged at noise multiplier `sigma`.
[[nodiscard]] dp::GaussianReleases EventOf(const GaussianTarget& target, double sigma);

}  // namespace trefoil::jobs
