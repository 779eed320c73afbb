#pragma once
#include <optional>
#include <string>

namespace trefoil::data {

/// The public range of the numbers that a model is to predict: low < high, with a finite difference.
struct TargetRange {
  double low = 0;
  double high = 1;

  friend bool operator==(const TargetRange&, const TargetRange&) = default;
};

/// A target is kept as a number of steps of 2^-kTargetBits of its range's width.
inline constexpr int kTargetBits = 24;

/// What is wrong with a range, if anything is: what was expected of `high`.
[[nodiscard]] std::optional<std::string> FlawOf(const TargetRange& range);

/// Where in the range a number lies, in steps from 0 to 2^kTargetBits, to the nearest; nothing for a number
/// outside, and for what is none. Error: half a step and a few units in the last place of the range's ends.
[[nodiscard]] std::optional<int> StepsOf(const TargetRange& range, double target);

/// What was expected where StepsOf() gives nothing.
[[nodiscard]] std::string ExpectedTarget(const TargetRange& range);

/// The number at a share of the range: `low` at 0, `high` at 1, and beyond them in proportion.
[[nodiscard]] double TargetAt(const TargetRange& range, double share);

/// The number that so many steps stand for.
[[nodiscard]] double TargetOfSteps(const TargetRange& range, int steps);

}  // namespace trefoil::data
