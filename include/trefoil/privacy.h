#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>

#include "trefoil/error.h"

/// Accountants of differential privacy. Every epsilon is an upper bound, rounded up; infinity where there is no
/// guarantee. Functions throw ConfigError for a number outside its domain: delta in (0, 1), rates in [0, 1], noise
/// multipliers not below 0.
namespace trefoil {

/// How epsilons are computed: by Renyi divergences, or by the distribution of the privacy loss, which is tighter and
/// takes longer (a second or so).
enum class Accounting { kRdp, kPld };

/// A guarantee at one delta, for who sees released results only, and for one of the three parties.
struct Epsilons {
  double outsider = 0;
  double insider = 0;
};

/// Composes releases, in any order.
class Accountant {
 public:
  explicit Accountant(Accounting accounting = Accounting::kPld);
  Accountant(Accountant&&) noexcept;
  Accountant& operator=(Accountant&&) noexcept;
  ~Accountant();

  /// `count` releases of a sum of sensitivity 1 with normal noise of deviation `noise_multiplier`, each record in it
  /// by a coin of its own with probability `sampling_rate`; neighbours differ by one record, added or removed.
  void AddGaussian(double sampling_rate, double noise_multiplier, std::int64_t count = 1);
  /// `count` releases of a number of sensitivity 1 with Laplace noise of this scale.
  void AddLaplace(double scale, std::int64_t count = 1);
  /// `count` releases by any (epsilon, 0)-differentially private mechanism.
  void AddPure(double epsilon, std::int64_t count = 1);

  [[nodiscard]] double Epsilon(double delta) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Of `count` releases of one sampled Gaussian, as DP-SGD makes in as many steps.
[[nodiscard]] double GaussianEpsilon(double sampling_rate, double noise_multiplier, std::int64_t count,
                                     double delta, Accounting accounting = Accounting::kPld);

/// The smallest noise multiplier, to 1e-4 relative, with which `count` releases of one sampled Gaussian have at most
/// `epsilon`; that holds for the returned value itself. Throws ConfigError where none up to 1e7 will do.
[[nodiscard]] double GaussianMultiplier(double epsilon, double delta, double sampling_rate,
                                        std::int64_t count, Accounting accounting = Accounting::kPld);

/// Both epsilons of what a run released, from its record.json. Throws ConfigError where the file cannot be read,
/// DataError where it is no record.
[[nodiscard]] Epsilons RecordEpsilons(const std::filesystem::path& record, double delta,
                                      Accounting accounting = Accounting::kPld);

}  // namespace trefoil
