#pragma once
#include <cstdint>
#include <vector>

#include "dp/losses/loss_law.h"

namespace trefoil::dp {

/// A privacy loss on a grid: P[loss = (first + i) * width] = mass[i], P[loss = infinity] = infinite. Masses
/// may add up to less than 1 where it is a lower bound.
struct GridLaw {
  double width = 0;
  std::int64_t first = 0;
  std::vector<double> mass;
  double infinite = 0;

  [[nodiscard]] double LossAt(std::size_t i) const {
    return static_cast<double>(first + static_cast<std::int64_t>(i)) * width;
  }
};

/// Two laws on a grid between which a loss lies: whatever is composed, delta(epsilon) of `upper` is at least,
/// and of `lower` at most, that of the law itself, but for a relative error of 1e-12 in each mass.
struct GridBounds {
  GridLaw upper;
  GridLaw lower;
};

/// Upper: every loss is split between its two neighbours on the grid such that E[exp(-loss)] stays ("connect
/// the dots"); a spread, which can be undone by forgetting. What lies above the law's range is infinite,
/// what lies below it is put on its lowest point.
/// Lower: outcomes of three cells at a time are merged, which can only lose, and what is left is put on the
/// middle cell's ends, again with E[exp(-loss)], where that merges still (else rounded down).
/// Cost: 10 evaluations of the law a cell. Pre: width > 0.
/// Source: Doroshenko, Ghazi, Kamath, Kumar, Manurangsi, "Connect the dots" (2022), for the upper one.
[[nodiscard]] GridBounds Discretise(const LossLaw& law, double width);

}  // namespace trefoil::dp
