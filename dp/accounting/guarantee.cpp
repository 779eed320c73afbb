#include "dp/accounting/guarantee.h"

#include <cmath>
#include <limits>

#include "dp/mechanisms/rounding.h"

namespace trefoil::dp {

double FailuresAt(double epsilon, double failure, double distance) {
  const double near = distance > 0 ? Above((1 + std::exp(epsilon)) * distance * (1 + kClosedFormError)) : 0;
  return near > 0 ? Above(failure + near) : failure;
}

double EpsilonAfterFailures(double delta, double failure, double distance,
                            const std::function<double(double)>& at) {
  // The least fixed point, approached from below; each step overshoots a little, so that the last one lands
  // on an epsilon that its own delta supports.
  constexpr int kMaxSteps = 1000;
  double assumed = 0;
  for (int i = 0; i < kMaxSteps; ++i) {
    const double charge = FailuresAt(assumed, failure, distance);
    const double remaining = charge > 0 ? std::nextafter(delta - charge, -1.0) : delta;
    if (!(remaining > 0)) break;
    const double epsilon = at(remaining);
    if (epsilon <= assumed || distance == 0) return epsilon;
    if (std::isinf(epsilon)) break;
    assumed = epsilon * (1 + 1e-10);
  }
  return std::numeric_limits<double>::infinity();
}

}  // namespace trefoil::dp
