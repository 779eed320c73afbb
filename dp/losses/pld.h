#pragma once
#include <memory>
#include <variant>
#include <vector>

#include "dp/record/event.h"

namespace trefoil::dp {

/// Releases whose privacy loss distribution is known.
using LossEvent = std::variant<SampledGaussian, Laplace, PureDp, ThreeLaplaceParts>;

struct PldBounds {
  double epsilon = 0;  ///< never below the exact value; infinity where there is no guarantee
  double lower = 0;    ///< never above the exact value, never negative
};

/// The privacy loss distribution of a composition, for neighbours by adding and by removing a record, the
/// worse of both counting.
///
/// Method: the losses of single releases are put on a grid, once from above and once from below
/// (dp/laws/grid_law.h); tilted by exp(lambda loss), which moves their weight to where epsilon is; and
/// composed by fast Fourier transforms of their powers. Charged to delta, for either bound: tails of the
/// noise that are cut off, what falls outside of the transform's window and may wrap into it (by Chernoff's
/// bound), and the rounding of transforms and powers. So the exact epsilon lies between the bounds; their
/// distance is what discretisation costs, and is chosen to be about 2e-4 of epsilon, more where 2^17 points
/// do not suffice.
/// Cost:   0.1 s for one kind of event; it grows with the kinds, and hardly with the counts.
/// Source: Koskela, Jaelkoe, Honkela (2020) for the transform; Gopi, Lee, Wutschitz (2021) for truncation;
///         Doroshenko et al. (2022) for the grid.
class Pld {
 public:
  /// Pre: CheckEvent of each; noise, scale, rate and epsilon above 0 and finite, a rate above 0, a count
  /// above 0 (ContractError). `delta` in (0, 1) is what the grid is made for.
  Pld(const std::vector<LossEvent>& events, double delta);
  ~Pld();
  Pld(Pld&&) noexcept;
  Pld& operator=(Pld&&) noexcept;

  /// At any delta in (0, 1); closest at the one of the constructor and near it.
  [[nodiscard]] PldBounds Epsilon(double delta) const;

 private:
  struct Composed;
  std::vector<Composed> neighbours_;  ///< remove, and add where that differs
};

}  // namespace trefoil::dp
