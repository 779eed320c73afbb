#pragma once
#include <cstdint>
#include <vector>

namespace trefoil::dp {

/// The weights of a law of numbers of trials add up to 2^kTrialLawBits.
inline constexpr int kTrialLawBits = 40;

/// How many of `trials` trials compete, on average `mean` of them: weights of 1, 2, ... trials that add up to
/// 2^kTrialLawBits, in the proportions c^k/k of a logarithmic law that is cut at `trials`, c such that the
/// mean is met to 10^-9, and each rounded, 1 to 2^kTrialLawBits at least 1. With `mean` = `trials` all
/// compete always.
/// Pre: 1 <= mean <= trials <= kMaxTrials (dp/record/event.h).
[[nodiscard]] std::vector<std::int64_t> TrialLaw(std::int64_t trials, double mean);

/// The mean number of trials under such weights. Pre: a weight above 0.
[[nodiscard]] double MeanTrials(const std::vector<std::int64_t>& weights);

}  // namespace trefoil::dp
