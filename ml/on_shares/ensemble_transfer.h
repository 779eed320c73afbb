#pragma once
#include <Eigen/Core>
#include <cstdint>

#include "ml/noise/noise_source.h"
#include "mpc/cost.h"
#include "mpc/fixed_point.h"
#include "mpc/share.h"
#include "protocols/functions/sigmoid.h"

/// A classifier for public auxiliary rows as an ensemble of owners' classifiers labels them: labels come from
/// votes on shares, and the regularised risk is minimised on shares.
/// Source: Hamm, Cao, Belkin, "Learning privately from multiparty data" (2016), sections 4 and 5.
namespace trefoil::ml {

struct TransferSettings {
  std::int64_t owners = 1;    ///< M, whose classifiers vote
  std::int64_t rows = 1;      ///< N auxiliary rows, public
  std::int64_t features = 1;  ///< p
  double row_norm = 1;        ///< of every row, at most
  bool majority = false;      ///< labels: the majority's; else the fraction of votes
  double lambda = 1;          ///< of lambda/2 |w|^2
  int steps = 1;
  int fraction_bits = 18;  ///< of rows and weights
};

/// What is public of the minimisation, derived from the settings alone. Steps are
///   w <- w - (a Xᵀf(Xw) + b w - c Xᵀv) / 2^shift
/// on lattices of 2^-fraction_bits, X with a constant 1 as last column, f the series of the sigmoid, v the
/// votes for class 1 of each row (or `owners` where they are the majority): gradient steps on a risk whose
/// loss has the slope f. They contract, since f's own slope is in [least_slope, most_slope] where logits can
/// be.
struct TransferPlan {
  TransferSettings settings;
  const protocols::SigmoidSeries* series = nullptr;
  int shift = 0;
  std::uint64_t a = 0;
  std::uint64_t b = 0;
  std::uint64_t c = 0;
  double largest_weight = 0;      ///< norm of all iterates, at most
  double shift_of_owner = 0;      ///< by how much one owner's votes move the exact minimiser, at most
  double gap = 0;                 ///< of the last iterate from it, all rounding included, at most
  std::uint64_t sensitivity = 0;  ///< shift_of_owner + 2 gap in lattice units, rounded up

  [[nodiscard]] mpc::Index weights() const { return settings.features + 1; }
};

/// Throws ConfigError naming the key that is out of reach: ensemble.lambda too small for any series,
/// ensemble.row_norm no more than a unit of the rows' lattice, or fraction_bits too many or too few for the
/// ring.
[[nodiscard]] TransferPlan MakeTransferPlan(const TransferSettings& settings);

/// Rows with their constant 1 at fraction_bits, rounded towards zero, each scaled down to row_norm where
/// longer.
[[nodiscard]] mpc::RingMatrix EncodeTransferRows(const TransferPlan& plan,
                                                 const Eigen::Ref<const Eigen::MatrixXd>& rows);

/// The weights after all steps from zero, in shares: (p + 1) x 1. `x` is EncodeTransferRows(), public and the
/// same at all three; `votes` are this party's owners' votes for class 1 of each row, N x 1. Nothing is
/// opened.
///
/// Pre:    shapes; at most `owners` votes for a row in all.
/// Cost:   MinimiseTransferRiskCost: 1 round, 2 more for the majority, and 5 a step.
/// Throws: ContractError on the shapes, before anything is sent; NetworkError, ProtocolError.
[[nodiscard]] mpc::FixedShare MinimiseTransferRisk(mpc::Context& party, const TransferPlan& plan,
                                                   const mpc::RingMatrix& x, const mpc::RingMatrix& votes);
[[nodiscard]] mpc::Cost MinimiseTransferRiskCost(const TransferPlan& plan);
/// What comes before its first step, and one step.
[[nodiscard]] mpc::Cost TransferLabelsCost(const TransferPlan& plan);
[[nodiscard]] mpc::Cost TransferStepCost(const TransferPlan& plan);

}  // namespace trefoil::ml
