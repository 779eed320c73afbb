#pragma once
#include <cstdint>
#include <functional>
#include <random>
#include <vector>

#include "dp/mechanisms/discrete_gaussian.h"
#include "ml/plan/step_plan.h"
#include "tests/support/ml_test.h"

namespace trefoil::testing_support {

/// An example and the weights that it meets: all of it the adversary's choice.
struct Candidate {
  Eigen::RowVectorXf x;
  int label = 0;                ///< a class, or a target in steps
  double own_weight = 0;        ///< the record's own, where the plan has such
  mpc::RingMatrix weights;      ///< of ShapeOfWeights, any ring values
  dp::Uint256 squared_norm{0};  ///< of its contribution to the gradient sum on the lattice, as found
};

/// Changes what owners input (EncodeRecords), to plant a fault.
using Tampering = std::function<void(mpc::RingMatrix& encoded)>;

/// Sums of clipped errors times what they belong to, opened as the numbers that the update_bits of each say:
/// those of single records are within range.
[[nodiscard]] mpc::RingMatrix RevealedSums(mpc::Context& party, const ml::StepPlan& plan,
                                           const mpc::AdditiveShare& sums);

/// The sum of squares of signed words, exactly.
[[nodiscard]] dp::Uint256 SquaredNorm(const mpc::RingMatrix& words);

/// The norm of a contribution, over lattice_sensitivity.
[[nodiscard]] double ShareOfCertificate(const ml::StepPlan& plan, const dp::Uint256& squared_norm);

/// Whether a contribution of that squared norm is within the certificate, lattice_sensitivity; and whether it
/// is at least 95 % of it. Integers only.
[[nodiscard]] bool WithinCertificate(const ml::StepPlan& plan, const dp::Uint256& squared_norm);
[[nodiscard]] bool WithinFivePercent(const ml::StepPlan& plan, const dp::Uint256& squared_norm);

/// What each example adds to the gradient sum of the real three-party step without noise: row k is the opened
/// sum, row by row, of the batch that has encoded row k alone, with weights[k].
[[nodiscard]] mpc::RingMatrix Contributions(const ml::StepPlan& plan, Seed seed,
                                            const mpc::RingMatrix& encoded,
                                            const std::vector<mpc::RingMatrix>& weights);

/// Looks for examples and weights with the largest contribution, by random starts and hill climbing: each
/// generation changes every candidate a little or much, runs them all through the three-party step with new
/// coins, and keeps what became larger.
class SensitivitySearch {
 public:
  SensitivitySearch(ml::StepPlan plan, std::uint64_t seed, Tampering tamper = {});

  /// Returns the largest found so far.
  const Candidate& Climb(int generations);

 private:
  [[nodiscard]] Candidate Start();
  [[nodiscard]] int DrawLabel();
  [[nodiscard]] double DrawOwnWeight();
  void ChangeRow(Candidate& candidate);
  void ChangeWeights(Candidate& candidate);
  [[nodiscard]] Candidate Changed(Candidate candidate);
  void Evaluate(std::vector<Candidate>& candidates);
  [[nodiscard]] std::uint64_t Below(std::uint64_t bound) { return random_() % bound; }

  ml::StepPlan plan_;
  Tampering tamper_;
  std::mt19937_64 random_;
  std::uint8_t coins_ = 0;
  std::vector<Candidate> best_;  ///< the largest first
};

}  // namespace trefoil::testing_support
