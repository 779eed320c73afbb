#pragma once
#include <Eigen/Core>

#include "base/secrets/random.h"
#include "base/threads/thread_pool.h"
#include "dp/record/record.h"
#include "ml/dpsgd/training.h"
#include "ml/plan/step_plan.h"

namespace trefoil::ml {

/// The public constants of the owners' local trainings, the same for all three.
///
/// Everything that a record's contribution is made of lies on a lattice of `lattice_bits` fraction bits,
/// chosen so that every sum is an integer below 2^53: matrix products in double precision are then exact,
/// whatever the order of their terms, and one record's presence moves the gradient sum by its own clipped
/// gradient, nothing else (docs/explanation/privacy.md, "Local training").
struct LocalPlan {
  LocalSettings settings;
  StepPlan encoding;  ///< how rows are encoded: no more of it than EncodeRecords needs
  double sampling_rate = 0;
  double sigma = 0;
  double sensitivity = 0;                 ///< Delta in the units of the clip
  std::uint64_t lattice_sensitivity = 0;  ///< on the gradient's lattice, 2 lattice_bits, rounded up

  [[nodiscard]] int lattice_bits() const { return encoding.settings.fraction_bits; }
};

/// Throws ConfigError naming the key of [initialisation] that is out of its domain, or an epsilon out of
/// reach.
[[nodiscard]] LocalPlan MakeLocalPlan(const TrainingSettings& settings, const LocalSettings& local);

/// What all three local trainings together are charged: one owner's.
[[nodiscard]] dp::LocalTraining EventOf(const LocalPlan& plan);

/// An owner's coins: which rows a step takes, and the noise. From the system but in tests.
struct LocalCoins {
  RandomStream rows = RandomStream::FromSystem();
  RandomStream noise = RandomStream::FromSystem();
};

/// The sum of the clipped gradients of the given rows at `weights`, (p + 1) x c integers on the gradient's
/// lattice, each example's of norm at most Delta. Pre: the weights are as TrainLocally keeps them.
[[nodiscard]] Eigen::MatrixXd SumClippedGradients(const LocalPlan& plan, const Eigen::MatrixXd& weights,
                                                  const OwnRecords& own,
                                                  const std::vector<std::int64_t>& rows, ThreadPool& pool);

/// DP-SGD in the clear on one owner's rows from zero weights: Poisson sampling by the owner's coins, clipped
/// per example by the factorised norm, discrete Gaussian noise of variance sigma^2 Delta^2. (p + 1) x c, the
/// last row the bias. The weights stay multiples of 2^-lattice_bits and short enough that no logit exceeds
/// kLargestLocalLogit. Linear models, any loss; nothing is sent. `owner` is whose rows they are.
/// Throws: DataError as EncodeRecords. Source: PEA (Ruan et al., 2023), Protocol 4, line 1.
[[nodiscard]] Eigen::MatrixXd TrainLocally(const LocalPlan& plan, int owner, const OwnRecords& own,
                                           ThreadPool& pool, LocalCoins coins = {});

inline constexpr double kLargestLocalLogit = 1024;

}  // namespace trefoil::ml
