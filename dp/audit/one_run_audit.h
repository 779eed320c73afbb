#pragma once
#include <cstdint>
#include <vector>

namespace trefoil::dp {

/// What an auditor guessed after one run of a mechanism M. Each of `canaries` records had been included in
/// M's data by a fair coin of its own; from M's output alone the auditor said of `guesses` of them whether
/// they were in, and was right about `right`.
struct CanaryGuesses {
  std::int64_t canaries = 0;
  std::int64_t guesses = 0;
  std::int64_t right = 0;
};

/// Bound on the probability of at least so many right guesses if M is (epsilon, delta)-differentially private
/// for adding or removing one canary, rounded upwards:
///   P[B >= v] + 2 m delta max_{i = 1 ... v} P[v > B >= v - i] / i,  B binomial of r and e^epsilon /
///   (e^epsilon + 1),
/// m canaries, r guesses, v right; 1 where 2 m delta is above 1 (then the bound says nothing). It grows with
/// epsilon. r must have been fixed before the run.
/// Cost: about r operations in 50 digits. Pre: 0 <= right <= guesses <= canaries, epsilon >= 0, 0 <= delta
/// <= 1. Throws ContractError. Source: Steinke, Nasr, Jagielski 2023, "Privacy auditing with one (1) training
/// run", main theorem for (epsilon, delta) with abstentions.
[[nodiscard]] double OneRunPValue(const CanaryGuesses& seen, double epsilon, double delta);

/// The greatest epsilon (to 1e-9, rounded down) at which OneRunPValue() is at most `false_alarm`: if M is
/// (E, delta)-differentially private, it exceeds E with probability at most `false_alarm`. 0 where nothing
/// can be said. Throws as OneRunPValue(); Pre: 0 < false_alarm < 1.
[[nodiscard]] double OneRunEpsilon(const CanaryGuesses& seen, double delta, double false_alarm);

/// A canary after the run.
struct ScoredCanary {
  double score = 0;  ///< the greater, the likelier it was included
  bool included = false;
};

/// A bound, and the guesses that it follows from.
struct OneRunBound {
  double epsilon = 0;
  CanaryGuesses guesses;
};

/// How many canaries are guessed in, and as many out, before looking: m/4, m/8, m/16, m/32, each at least 1.
/// Pre: m >= 2.
[[nodiscard]] std::vector<std::int64_t> GuessGrid(std::int64_t canaries);

/// The best of the bounds that GuessGrid() gives, the k highest scores being guessed in and the k lowest out
/// (of equal scores those that come first). Each is taken at `false_alarm` divided by their number, so that
/// the best one holds at `false_alarm`. Pre: at least 2 canaries, scores that are numbers; else as
/// OneRunEpsilon().
[[nodiscard]] OneRunBound BestOneRunBound(const std::vector<ScoredCanary>& canaries, double delta,
                                          double false_alarm);

}  // namespace trefoil::dp
