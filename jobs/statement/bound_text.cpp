#include "jobs/statement/bound_text.h"

#include <spdlog/fmt/fmt.h>

#include <cmath>

#include "base/outward_text.h"

namespace trefoil::jobs {

std::string EpsilonText(double epsilon) {
  return std::isfinite(epsilon) ? FixedAbove(epsilon, 3) : "infinite";
}

std::string EpsilonsText(double outsider, double insider, FirstEpsilon first) {
  return InOrder(EpsilonText(outsider), EpsilonText(insider), first);
}

std::string InOrder(const std::string& outsider, const std::string& insider, FirstEpsilon first) {
  return first == FirstEpsilon::kInsider ? fmt::format("{} insider {} outsider", insider, outsider)
                                         : fmt::format("{} outsider {} insider", outsider, insider);
}

std::string ShortEpsilonText(double epsilon) {
  return std::isfinite(epsilon) ? DigitsAbove(epsilon, 4) : "infinite";
}

std::string CloseEpsilonText(double epsilon) {
  return std::isfinite(epsilon) ? DigitsAbove(epsilon, 6) : "infinite";
}

std::string ListedEpsilonText(double epsilon) {
  return std::isfinite(epsilon) ? FixedAbove(epsilon, 4) : "no guarantee";
}

std::string BoundText(double bound) {
  return std::isfinite(bound) ? DigitsAbove(bound, 6) : "infinite: no guarantee";
}

std::string DeltaText(double delta) { return DigitsAbove(delta, 6); }

std::string MultiplierText(double sigma) { return DigitsBelow(sigma, 6); }

std::string AccuracyText(double accuracy) { return FixedBelow(accuracy, 4); }

}  // namespace trefoil::jobs
