#pragma once
#include <functional>

namespace trefoil::dp {

/// (epsilon, delta)-differential privacy as an accountant showed it.
struct Guarantee {
  double epsilon = 0;  ///< never negative; infinity where there is no guarantee
  double order = 0;    ///< the RDP order that showed it; 0 where another way did, or none
  double error = 0;    ///< PLD: how far epsilon is above the exact one, at most; else 0, which says nothing
};

/// What failures take of delta at epsilon, rounded up: `failure`, with which independent coins come out
/// badly, and (1 + e^epsilon) `distance`, the total variation from what the accountant counts. 0 without
/// either.
[[nodiscard]] double FailuresAt(double epsilon, double failure, double distance);

/// The least epsilon with epsilon = at(delta - failure - (1 + e^epsilon) distance), or infinity: what a
/// mechanism has that is within total variation `distance` of one that is, unless independent coins come out
/// badly with probability `failure`, (at(delta'), delta')-differentially private for every delta'. What is
/// left of delta is rounded down. `at` falls with its argument, and keeps of the last call what the caller
/// wants to know. Pre: delta in (0, 1), failure and distance not below 0.
[[nodiscard]] double EpsilonAfterFailures(double delta, double failure, double distance,
                                          const std::function<double(double)>& at);

}  // namespace trefoil::dp
