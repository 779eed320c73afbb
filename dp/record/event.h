#pragma once
#include <cstdint>
#include <variant>
#include <vector>

namespace trefoil::dp {

/// What was released, as accountants understand it: immutable values, composed in any order.

/// `count` releases of a sum of sensitivity 1 with normal noise of deviation `noise_multiplier`, each record
/// taken with probability `sampling_rate`. Rate 1 is the plain Gaussian. Neighbours differ by `units`
/// records, all added or all removed, each taken by a coin of its own: N(0, multiplier^2) against the mixture
/// of N(j, multiplier^2) with j of Bin(units, rate) (docs/explanation/privacy.md, "Several rows of one
/// person").
struct SampledGaussian {
  double sampling_rate = 0;
  double noise_multiplier = 0;
  std::int64_t count = 0;
  std::int64_t units = 1;
};

/// `count` releases of a number of sensitivity 1 with Laplace noise of scale `scale`.
struct Laplace {
  double scale = 0;
  std::int64_t count = 0;
};

/// `count` releases by any (epsilon, 0)-differentially private mechanism.
struct PureDp {
  double epsilon = 0;
  std::int64_t count = 0;
};

/// `count` releases of an integer that moves by 1 at most, under noise of three parts of discrete Laplace
/// noise of this rate (dp/mechanisms/laplace_part.h): costs no more than as many of PureDp with epsilon
/// `rate`.
struct ThreeLaplaceParts {
  double rate = 0;
  std::int64_t count = 0;
};

/// `count` releases whose noise has a density within a factor exp(+-bound) of the one that the other events
/// describe.
struct MaxDivergence {
  double bound = 0;
  std::int64_t count = 0;
};

/// `count` releases that are within total variation `distance` of what the other events describe.
struct TotalVariation {
  double distance = 0;
  std::int64_t count = 0;
};

/// `count` releases that are what the other events describe unless coins come out badly, which they do with
/// at most this probability, alike in both neighbours and independently of what these differ by. It costs
/// delta that probability, without a factor.
struct IndependentFailure {
  double probability = 0;
  std::int64_t count = 0;
};

struct BestOfTrials;

using Event = std::variant<SampledGaussian, Laplace, PureDp, ThreeLaplaceParts, MaxDivergence, TotalVariation,
                           IndependentFailure, BestOfTrials>;

/// The best of several trials by a score, of which a secret number, drawn and chosen at random, compete
/// (dp/accounting/best_of_trials.h). Only the best one is released. `weights[k - 1]` over their sum is the
/// probability that k compete, for k up to the number of all trials.
struct BestOfTrials {
  /// Trials that release the same: `each`, of which no event is a TotalVariation, an IndependentFailure or a
  /// BestOfTrials.
  struct Alike {
    std::int64_t count = 0;
    std::vector<Event> each{};
  };

  std::vector<Alike> trials{};
  std::vector<std::int64_t> weights{};
};

/// More trials are refused.
inline constexpr std::int64_t kMaxTrials = 64;

/// Throws ConfigError for a parameter outside its domain: NaN, a negative number, a rate, a distance or a
/// probability above 1, fewer units than 1; trials that are none or more than kMaxTrials, a weight less or
/// more than there are trials, weights that add up to 0 or to more than 2^53. Zero noise, an infinite epsilon
/// and an infinite bound are allowed: they give no guarantee.
void CheckEvent(const Event& event);

}  // namespace trefoil::dp
