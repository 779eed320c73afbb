#include "dp/laws/closeness.h"

#include <cmath>
#include <limits>

#include "dp/record/domain.h"

namespace trefoil::dp {

double ClosenessPerCoordinate(int summands, double deviation) {
  CheckParameter(summands >= 1, "number of noise summands", summands, "a number not below 1");
  CheckParameter(deviation >= 0, "noise deviation", deviation, "a number not below 0");
  if (summands == 1) return 0;
  if (deviation < 0.5) return std::numeric_limits<double>::infinity();
  constexpr double kPi = 3.14159265358979323846;
  double sum = 0;
  for (int k = 1; k < summands; ++k) sum += std::exp(-2 * kPi * kPi * deviation * deviation * k / (k + 1.0));
  // Both additions keep it an upper bound: of the rounding errors, and where exp underflows.
  return 10 * sum * (1 + 1e-9) + std::numeric_limits<double>::min();
}

double ContinuousMultiplier(double multiplier, double deviation) {
  constexpr double kRounding = 2;
  CheckParameter(deviation >= 0, "noise deviation", deviation, "a number not below 0");
  if (deviation <= kRounding) return 0;
  const double part = kRounding / deviation;
  return multiplier * std::sqrt(1 - part * part);
}

MaxDivergence ClosenessCharge(int summands, double deviation, std::int64_t coordinates,
                              std::int64_t releases) {
  CheckParameter(coordinates >= 0, "number of coordinates", static_cast<double>(coordinates),
                 "a number not below 0");
  if (coordinates == 0) return {0, releases};
  return {ClosenessPerCoordinate(summands, deviation) * static_cast<double>(coordinates), releases};
}

}  // namespace trefoil::dp
