#include "data/columns/target.h"

#include <cmath>

#include "data/formats/file.h"

namespace trefoil::data {

std::optional<std::string> FlawOf(const TargetRange& range) {
  // Written so that NaN fails, too.
  if (range.low < range.high && std::isfinite(range.high - range.low)) return {};
  return "a number above data.target.low, with a finite difference";
}

std::optional<int> StepsOf(const TargetRange& range, double target) {
  if (!(target >= range.low && target <= range.high)) return {};
  const double share = (target - range.low) / (range.high - range.low);
  return static_cast<int>(std::lround(std::ldexp(share, kTargetBits)));
}

std::string ExpectedTarget(const TargetRange& range) {
  return "a number of " + NumberText(range.low) + " to " + NumberText(range.high) +
         ", the range of data.target";
}

double TargetAt(const TargetRange& range, double share) {
  return range.low + share * (range.high - range.low);
}

double TargetOfSteps(const TargetRange& range, int steps) {
  return TargetAt(range, std::ldexp(static_cast<double>(steps), -kTargetBits));
}

}  // namespace trefoil::data
