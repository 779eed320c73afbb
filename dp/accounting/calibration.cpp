#include "dp/accounting/calibration.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "base/error.h"
#include "base/outward_text.h"
#include "dp/accounting/infinity.h"
#include "dp/record/domain.h"

namespace trefoil::dp {
namespace {

constexpr double kSmallestMultiplier = 0.01;
constexpr double kLargestMultiplier = 1e7;
constexpr double kCalibrationAccuracy = 1e-4;

[[noreturn]] void ThrowOutOfReach(double target_epsilon, double best) {
  std::ostringstream text;
  text << "target epsilon: found " << target_epsilon << ", expected at least " << DigitsAbove(best, 6)
       << ", which is what a noise multiplier of " << kLargestMultiplier << " gives";
  throw ConfigError(text.str());
}

/// Multipliers between which nothing is asked any more.
struct Cell {
  double low = 0;
  double high = 0;
};

/// What is known of a function that falls. It may take a tenth of a second, so that no value is asked for twice
/// and none that follows from another.
class FallingEpsilon {
 public:
  FallingEpsilon(double target, const std::function<double(double)>& epsilon)
      : target_(target), epsilon_(epsilon) {}

  [[nodiscard]] bool IsKnownToFail(double multiplier) const { return multiplier <= fails_; }
  [[nodiscard]] bool IsKnownToMeet(double multiplier) const { return multiplier >= meets_; }
  [[nodiscard]] double latest() const { return latest_.epsilon; }

  /// Whether the multiplier meets the target.
  bool Meets(double multiplier) {
    if (IsKnownToMeet(multiplier)) return true;
    if (IsKnownToFail(multiplier)) return false;
    const double value = epsilon_(multiplier);
    Require(!std::isnan(value), "SmallestNoiseMultiplier: epsilon is not a number");
    before_ = latest_;
    latest_ = {multiplier, value};
    const bool meets = value <= target_;
    (meets ? meets_ : fails_) = multiplier;
    return meets;
  }

  /// The middle of what is not known.
  [[nodiscard]] double Middle() const { return std::sqrt(fails_ * meets_); }

  /// Where the target is met by the line through the two latest values, in logarithms, where that can be.
  [[nodiscard]] double Guess() const {
    const double slope =
        std::log(latest_.epsilon / before_.epsilon) / std::log(latest_.multiplier / before_.multiplier);
    const double guess = latest_.multiplier * std::pow(target_ / latest_.epsilon, 1 / slope);
    return guess > fails_ && guess < meets_ ? guess : Middle();
  }

  /// The cell of halvings of `cell` in which `guess` lies, or the one that is known already.
  [[nodiscard]] Cell Around(Cell cell, double guess) const {
    while (cell.high > cell.low * (1 + kCalibrationAccuracy)) {
      const double middle = std::sqrt(cell.low * cell.high);
      const bool meets = IsKnownToMeet(middle) || (!IsKnownToFail(middle) && middle >= guess);
      (meets ? cell.high : cell.low) = middle;
    }
    return cell;
  }

 private:
  struct Value {
    double multiplier = 0;
    double epsilon = 0;
  };

  double target_;
  const std::function<double(double)>& epsilon_;
  double fails_ = 0;          ///< the largest multiplier that is known to fail
  double meets_ = kInfinity;  ///< the smallest that is known to meet it
  Value before_;
  Value latest_;
};

}  // namespace

double SmallestNoiseMultiplier(double target_epsilon, const std::function<double(double)>& epsilon) {
  CheckParameter(target_epsilon > 0, "target epsilon", target_epsilon, "a number above 0");
  FallingEpsilon known(target_epsilon, epsilon);
  Cell all{.high = 1};
  while (!known.Meets(all.high)) {
    if (all.high == kLargestMultiplier) ThrowOutOfReach(target_epsilon, known.latest());
    all.high = std::min(2 * all.high, kLargestMultiplier);
  }
  all.low = all.high / 2;
  while (all.low > kSmallestMultiplier && known.Meets(all.low)) {
    all.high = all.low;
    all.low /= 2;
  }
  all.low = std::max(all.low, kSmallestMultiplier);
  if (known.Meets(all.low)) return all.low;
  constexpr int kGuesses = 8;  // where they do not lead there, what is not known is halved
  for (int asked = 0;; ++asked) {
    const Cell cell = known.Around(all, asked < kGuesses ? known.Guess() : known.Middle());
    if (known.IsKnownToMeet(cell.high) && known.IsKnownToFail(cell.low)) return cell.high;
    (void)known.Meets(known.IsKnownToMeet(cell.high) ? cell.low : cell.high);
  }
}

}  // namespace trefoil::dp
