#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "trefoil/error.h"

/// Accountants of differential privacy. Every epsilon is an upper bound, rounded up; infinity where there is
/// no guarantee. Functions throw ConfigError for a number outside its domain: delta in (0, 1), rates in [0,
/// 1], noise multipliers not below 0.
namespace trefoil {

/// How epsilons are computed: by Renyi divergences, or by the distribution of the privacy loss, which is
/// tighter and takes longer (a second or so).
enum class Accounting { kRdp, kPld };

/// A guarantee at one delta, against two who would learn about a record.
struct Epsilons {
  double outsider = 0;  ///< sees what was released, and nothing else
  double insider = 0;   ///< is one of the three parties, and knows its own noise
};

/// Composes releases, in any order.
class Accountant {
 public:
  explicit Accountant(Accounting accounting = Accounting::kPld);
  Accountant(Accountant&&) noexcept;
  Accountant& operator=(Accountant&&) noexcept;
  ~Accountant();

  /// `count` releases of a sum of sensitivity 1 with normal noise of deviation `noise_multiplier`. Each
  /// record is in a sum with probability `sampling_rate`, by a coin of its own; neighbours differ by one
  /// record, added or removed.
  void AddGaussian(double sampling_rate, double noise_multiplier, std::int64_t count = 1);
  /// `count` releases of a number of sensitivity 1 with Laplace noise of this scale.
  void AddLaplace(double scale, std::int64_t count = 1);
  /// `count` releases by any (epsilon, 0)-differentially private mechanism.
  void AddPure(double epsilon, std::int64_t count = 1);

  /// Of all that was added.
  [[nodiscard]] double Epsilon(double delta) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// The epsilon of `count` releases as of Accountant::AddGaussian: DP-SGD makes one in each step.
[[nodiscard]] double GaussianEpsilon(double sampling_rate, double noise_multiplier, std::int64_t count,
                                     double delta, Accounting accounting = Accounting::kPld);

/// The smallest noise multiplier from 0.01 on, to 1e-4 relative, with which those releases have at most
/// `epsilon`, as they do with the returned value itself. Throws ConfigError where none up to 1e7 will do.
[[nodiscard]] double GaussianMultiplier(double epsilon, double delta, double sampling_rate,
                                        std::int64_t count, Accounting accounting = Accounting::kPld);

/// Both epsilons of what a run released, from its record.json. Throws ConfigError where the file cannot be
/// read, DataError where it is no record.
[[nodiscard]] Epsilons RecordEpsilons(const std::filesystem::path& record, double delta,
                                      Accounting accounting = Accounting::kPld);

/// A bound as the program prints it, rounded up at the last digit shown, so that the text is true as well:
/// "1.264" of 1.26314, "infinite" without a guarantee; six digits of a delta.
[[nodiscard]] std::string EpsilonText(double epsilon);
[[nodiscard]] std::string DeltaText(double delta);

}  // namespace trefoil
