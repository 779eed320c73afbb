#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "dp/mechanisms/geometric.h"
#include "dp/record/record.h"
#include "ml/clear/logistic_regression.h"
#include "ml/on_shares/classifier_average.h"

namespace trefoil::ml {

/// Of an average: discrete Laplace or Gaussian parts of every party, or the smallest owner's Laplace noise
/// alone, of the published scale.
enum class AverageNoise { kLaplace, kGaussian, kAsPublished };

/// An average of locally trained classifiers, as a job declares it: public, the same at all three.
struct AverageSettings {
  std::array<std::int64_t, 3> owners{};  ///< that each party acts for
  std::int64_t features = 0;             ///< columns of a row, bias excluded
  double row_norm = 1;
  LogisticSettings solver;
  std::int64_t min_rows = 0;  ///< that an owner with fewer counts as, the missing ones zero (FitLogistic)
  std::int64_t max_rows = 0;  ///< that an owner may have
  int scales = 1;             ///< of the noise to choose from, at most
  int fraction_bits = 0;      ///< of weights
  double epsilon = 0;         ///< of all that is released
  double delta = 0;
  std::optional<double>
      size_epsilon{};  ///< part of epsilon: for one record added or removed. None: for one replaced
  AverageNoise noise = AverageNoise::kLaplace;
  dp::AccountantKind accountant = dp::AccountantKind::kPld;  ///< by which Gaussian noise is calibrated

  [[nodiscard]] std::int64_t all_owners() const { return owners[0] + owners[1] + owners[2]; }
  [[nodiscard]] std::int64_t weights() const { return features + (solver.bias ? 1 : 0); }
};

struct AveragePlan {
  AverageShape shape;
  std::vector<dp::Ratio> rates;  ///< of the discrete Laplace noise of each scale, per lattice unit
  double sigma = 0;              ///< Gaussian noise: its multiplier, of every scale; else 0
  std::vector<std::uint64_t> sensitivities;  ///< with it: what it is over, in lattice units, of each scale
  dp::Ratio size_rate{};                     ///< of the smallest size's noise, where there is any
  std::vector<dp::RecordedEvent> events;     ///< what the release is charged
  double largest_weight = 0;                 ///< of any owner's classifier
  double largest_sum = 0;                    ///< of a weight of the noisy sum, in lattice units
};

/// By how much one record changes the sum of all owners' weights in the L1 norm, in units of
/// 2^-fraction_bits, at most, where its owner has `rows` records or more (the larger number of the two data
/// sets), or fewer, and `rows` is least_rows:
///   sqrt(d) (2 L / (rows lambda) + 2 gap) 2^fraction_bits + d,
/// d weights, L the loss's Lipschitz bound, gap the solver's (SolverGap), and a unit for each weight's
/// rounding. Source: Chaudhuri, Monteleoni, "Privacy-preserving logistic regression" (2008), Corollary 2, for
/// the L2 norm of exact minimisers; sqrt(d) for L1 is Cauchy and Schwarz'.
[[nodiscard]] double SumSensitivity(const AverageSettings& settings, std::int64_t rows);

/// The same in the L2 norm, which Gaussian noise is over, rounded up to whole units:
///   (2 L / (rows lambda) + 2 gap) 2^fraction_bits + sqrt(d).
[[nodiscard]] std::uint64_t SumSensitivityL2(const AverageSettings& settings, std::int64_t rows);

/// The published noise for one of the owner's size: discrete Laplace of 2 all_owners / (rows epsilon lambda)
/// in the sum's units, per lattice unit. Throws ConfigError where the sampler has no such rate.
[[nodiscard]] dp::Ratio PublishedRate(const AverageSettings& settings, std::int64_t rows);

/// Throws ConfigError naming the key that is out of its domain, whose noise or sum the lattice cannot hold,
/// on which no weight of a feature could be more than a unit, or with which a solver could take more than
/// kMaxIterations.
[[nodiscard]] AveragePlan MakeAveragePlan(const AverageSettings& settings);

}  // namespace trefoil::ml
