#pragma once
#include <vector>

namespace trefoil::dp {

/// How well scores tell members from others. Scores are numbers; greater means "rather a member".
struct AttackResult {
  double auc = 0.5;    ///< probability that a member's score is above another's, half for equal ones
  double auc_low = 0;  ///< with `auc_high`: an interval for it at the confidence asked for
  double auc_high = 1;
  double true_positive_rate =
      0;                  ///< members found at the threshold that takes at most the rate asked for of others
  double accuracy = 0.5;  ///< the best threshold's: the mean of members found and others spared
};

/// What the attack is asked.
struct AttackQuestion {
  double false_positive_rate = 0.01;
  double confidence = 0.95;
};

/// Scores of members and of others. The interval is Hoeffding's for two-sample U-statistics:
/// distribution-free, for scores that are independent of each other, of half-width sqrt(ln(2 / (1 -
/// confidence)) / (2 n)), n the smaller number, cut to 0 ... 1. Cost: sorts them. Pre: one score of either
/// kind at least; false_positive_rate 0 to 1, confidence between 0 and 1. Throws ContractError. Source:
/// Hoeffding 1963, "Probability inequalities for sums of bounded random variables", section 5.
[[nodiscard]] AttackResult MeasureAttack(const std::vector<double>& members,
                                         const std::vector<double>& others, const AttackQuestion& question);

/// What (epsilon, delta) allows any attack on a fair coin's record, in expectation: from
/// TPR <= e^epsilon FPR + delta and 1 - FPR <= e^epsilon (1 - TPR) + delta at every threshold. An infinite
/// epsilon allows everything. Pre: epsilon >= 0, 0 <= delta <= 1.
struct AttackLimits {
  double auc = 1;
  double true_positive_rate = 1;
  double accuracy = 1;
};
[[nodiscard]] AttackLimits LimitsOf(double epsilon, double delta, double false_positive_rate);

}  // namespace trefoil::dp
