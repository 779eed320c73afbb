#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "dp/record/event.h"

namespace trefoil::dp {

/// RDP of the best of several trials, of which a secret number compete, in nats, one value an order.
///
/// All M trials are run, each with coins of its own; which of them are alike is public. A secret number K,
/// with probability weights[K - 1] over their sum, and a secret set of K trials, each as likely as any other,
/// compete; the best of these by any order of what they give (a noisy score, equal ones by their numbers) is
/// released, with its number. Nobody learns K, the set, or anything of the other trials.
///
/// `trial` is an RDP curve at `orders` that every trial keeps, for adding and for removing. At order a the
/// result is
///     trial(a) + 1/(a - 1) log sup over q in [0, 1] of N(q)^a D(q')^(1 - a),
/// N(q) = E[K q^(K - 1)]; D(q') with n = (M - 1) q' is E[K C(n, K - 1)/C(M - 1, K - 1)], linear between whole
/// n; q' is the least probability that the curve allows under a neighbour to what has probability q. Infinity
/// where there is none.
///
/// Error:  never below that; above it by 0.01 at most where weights fall geometrically, from intervals of q.
/// Pre:    orders above 1, one curve value each, weights as of BestOfTrials.
/// Cost:   some 10^4 points times orders.
/// Source: docs/explanation/privacy.md, "Tuning"; Papernot, Steinke, "Hyperparameter tuning with Renyi
/// differential
///         privacy" (2022), whose trials draw their settings at random and in secret.
[[nodiscard]] std::vector<double> BestOfTrialsRdp(std::span<const std::int64_t> weights,
                                                  std::span<const double> orders,
                                                  std::span<const double> trial);

/// The curve of the event at `orders`: the less of BestOfTrialsRdp, with the pointwise maximum of its trials'
/// curves, and of the sum of all trials' curves, as if all were released. Pre: CheckEvent.
[[nodiscard]] std::vector<double> CurveOfTrials(const BestOfTrials& event, std::span<const double> orders);

}  // namespace trefoil::dp
