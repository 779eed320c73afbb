#include "dp/audit/membership.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "base/error.h"

namespace trefoil::dp {
namespace {

std::vector<double> Descending(std::vector<double> scores) {
  for (const double score : scores) Require(!std::isnan(score), "MeasureAttack: scores that are numbers");
  std::sort(scores.begin(), scores.end(), std::greater<>());
  return scores;
}

/// Of scores in descending order, those above `threshold` (or at it).
double CountAbove(const std::vector<double>& scores, double threshold, bool or_at) {
  const auto end = or_at ? std::upper_bound(scores.begin(), scores.end(), threshold, std::greater<>())
                         : std::lower_bound(scores.begin(), scores.end(), threshold, std::greater<>());
  return static_cast<double>(end - scores.begin());
}

}  // namespace

AttackResult MeasureAttack(const std::vector<double>& members, const std::vector<double>& others,
                           const AttackQuestion& question) {
  Require(!members.empty() && !others.empty(), "MeasureAttack: a score of either kind");
  Require(question.false_positive_rate >= 0 && question.false_positive_rate <= 1,
          "MeasureAttack: a false positive rate of 0 to 1");
  Require(question.confidence > 0 && question.confidence < 1, "MeasureAttack: a confidence between 0 and 1");
  const auto in = Descending(members);
  const auto out = Descending(others);
  const auto in_count = static_cast<double>(in.size());
  const auto out_count = static_cast<double>(out.size());
  AttackResult result;
  double pairs = 0;
  for (const double score : out) pairs += (CountAbove(in, score, false) + CountAbove(in, score, true)) / 2;
  result.auc = pairs / (in_count * out_count);
  const double half =
      std::sqrt(std::log(2 / (1 - question.confidence)) / (2 * std::min(in_count, out_count)));
  result.auc_low = std::max(0.0, result.auc - half);
  result.auc_high = std::min(1.0, result.auc + half);
  for (const double score : in) {  // a threshold just below each member's score: no other can be better
    const double found = CountAbove(in, score, true) / in_count;
    const double taken = CountAbove(out, score, true) / out_count;
    result.accuracy = std::max(result.accuracy, (found + 1 - taken) / 2);
    if (taken <= question.false_positive_rate)
      result.true_positive_rate = std::max(result.true_positive_rate, found);
  }
  return result;
}

AttackLimits LimitsOf(double epsilon, double delta, double false_positive_rate) {
  Require(epsilon >= 0 && delta >= 0 && delta <= 1, "LimitsOf: epsilon not negative, delta of 0 to 1");
  if (!std::isfinite(epsilon)) return {};
  // The curve's three pieces: from (0, delta) up to (corner, 1 - corner), from there to (1 - delta, 1),
  // then 1.
  const double odds = std::exp(-epsilon);  // e^epsilon may overflow
  const double corner = (1 - delta) * odds / (1 + odds);
  AttackLimits limits;
  limits.accuracy = 1 - corner;
  limits.auc = corner * (delta + 1 - corner) / 2 + (1 - delta - corner) * (2 - corner) / 2 + delta;
  limits.true_positive_rate =
      false_positive_rate <= corner
          ? std::min(1 - corner,
                     delta + (1 - corner - delta) * (corner > 0 ? false_positive_rate / corner : 0))
          : std::min(1.0, 1 - odds * (1 - delta - false_positive_rate));
  return limits;
}

}  // namespace trefoil::dp
