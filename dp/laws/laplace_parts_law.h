#pragma once
#include <vector>

namespace trefoil::dp {

/// What an integer that moves by 1 loses under noise of three LaplacePart (dp/mechanisms/laplace_part.h):
/// exactly what a choice between randomised responses loses, of which the one of this epsilon is made with
/// this probability, and the choice is seen.
struct WeightedResponse {
  double epsilon = 0;
  double weight = 0;
};

/// The choice for parts of this rate, in nats. P, the law of the sum of three parts, is symmetric, with
/// P(x) <= P(x - 1) for x > 0; so the outcomes -x and x + 1 together, of probability P(x) + P(x + 1), tell
/// the two neighbours apart as a randomised response of epsilon log(P(x) / P(x + 1)) does. These grow with x
/// towards `rate`, which is what the last weight, of all x beyond the last, below e^-40 in all, is put on.
///
/// Value:  weights add up to 1; relative errors below 1e-11. Beyond kMinPartsRate to kLargestPartsRate the
///         third part is left out: one response of epsilon `rate`, which is never less.
/// Source: docs/explanation/privacy.md, "Laplace noise in parts". Pre: rate above 0.
[[nodiscard]] std::vector<WeightedResponse> ThreePartsResponses(double rate);

inline constexpr double kMinPartsRate = 1.0 / 256;
inline constexpr double kLargestPartsRate = 16;

}  // namespace trefoil::dp
