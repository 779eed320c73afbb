#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "dp/pate/pate.h"

/// What noisy votes cost depends on the votes, and is private itself. To publish it, noise is added in
/// proportion to the smooth sensitivity of the votes. Sources: Nissim, Raskhodnikova, Smith, "Smooth
/// sensitivity and sampling in private data analysis" (2007); Papernot et al., "Scalable private learning
/// with PATE" (2018), appendix B, for GNMax; the argument here is another one, and
/// holds for LNMax, too. Neighbours: votes of which one teacher's moved, at most one vote of each query.
namespace trefoil::dp {

/// LNMax, GNMax, or with a threshold Confident-GNMax, at one order, and how smooth a bound is wanted.
struct SmoothVoteSettings {
  AnswerNoise answer{};
  std::optional<double> threshold{};
  double threshold_sigma = 0;  ///< with a threshold
  double order = 0;
  double beta = 0;  ///< above 0: the bound changes by a factor of e^beta at most between neighbours
};

struct SmoothVoteCost {
  double rdp = 0;          ///< of these votes at the order
  double sensitivity = 0;  ///< beta-smooth upper bound on its local sensitivity. Private, as rdp is
};

/// Sums AnswerRdp() or, with a threshold, NoisyThresholdRdp() and AnsweredRdp() over the queries, and bounds
/// by how much a neighbour's sum may differ: the largest of e^(-beta d) times what a query's term may move by
/// in one step, d steps away, over all d. Rests on two facts: a moved vote moves the gap g with q = (m - 1)
/// h(g) by 2 at most, h being e^BehindLogQ(), since log |h'| is concave (docs/explanation/privacy.md,
/// "PATE"); and AnswerRdp() does not fall with q, which is checked on a grid. Cost: some queries x teachers
/// operations.
/// Pre: queries with equally many classes and votes, none negative. Throws: ConfigError for a parameter out
/// of its domain, or an order at which the check fails.
[[nodiscard]] SmoothVoteCost SmoothCostOfVotes(std::span<const std::vector<std::int64_t>> votes,
                                               const SmoothVoteSettings& settings);

/// RDP, at `order`, of releasing f + S N(0, noise^2), where S is a beta-smooth upper bound on the local
/// sensitivity of f: the largest divergence of two normal laws whose means differ by no more than either's S
/// and whose deviations by a factor of e^beta at most. Throws ConfigError unless all are positive, the order
/// is above 1 and order (1 - e^(-2 beta)) below 1, without which there is no bound.
[[nodiscard]] double SmoothNoiseRdp(double beta, double noise, double order);

/// A number k for which f + k S, whose local sensitivity has the beta-smooth bound (1 + k (e^beta - 1)) S, is
/// above f after noise of `noise` times that bound, except with probability `failure`. Throws ConfigError
/// where there is none: failure outside (0, 1/2), or noise and beta too large for it.
[[nodiscard]] double OffsetOfSmoothBound(double beta, double noise, double failure);

}  // namespace trefoil::dp
