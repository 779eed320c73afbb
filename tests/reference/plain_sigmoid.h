#pragma once
#include <cmath>
#include <numbers>

#include "protocols/functions/sigmoid.h"

namespace trefoil::reference {

/// The series of the sigmoid as protocols/functions/sigmoid.h states it, without the evaluation's errors.
inline double SeriesAt(const protocols::SigmoidSeries& series, double x) {
  double value = 0.5;
  for (std::size_t j = 0; j < series.coefficients.size(); ++j) {
    const double turns = std::ldexp((2.0 * static_cast<double>(j) + 1) * x, -series.log2_period);
    value +=
        std::ldexp(static_cast<double>(series.coefficients[j]), -28) * std::sin(2 * std::numbers::pi * turns);
  }
  return value;
}

}  // namespace trefoil::reference
