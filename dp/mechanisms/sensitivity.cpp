#include "dp/mechanisms/sensitivity.h"

#include <algorithm>
#include <cmath>

namespace trefoil::dp {
namespace {

// Every bound is raised by this factor, which covers the roundings of the doubles that compute it.
constexpr double kOutward = 1 + 1e-12;

double Unit(const LinearContribution& example) { return std::ldexp(1.0, -example.frac_bits); }

}  // namespace

double RowBound(const LinearContribution& example) {
  return std::sqrt(example.row_norm * example.row_norm + 1) * kOutward;
}

double WeightedErrorNorm(const LinearContribution& example, double weight) {
  return (weight * example.error_norm + std::sqrt(example.columns) * Unit(example)) * kOutward;
}

double SquaredGradientBound(const LinearContribution& example, double slack) {
  const double row = RowBound(example);
  return (row * row + slack) * example.error_norm * example.error_norm * kOutward;
}

double UnclippedSensitivity(const LinearContribution& example) {
  return RowBound(example) * example.error_norm * kOutward;
}

double FactorisedSensitivity(const LinearContribution& example, double clip, int error_bits) {
  const double rounding = std::ldexp(RowBound(example) * std::sqrt(example.columns), -error_bits);
  return (std::min(clip, UnclippedSensitivity(example)) + rounding) * kOutward;
}

double SquaredGradientBound(const std::vector<LayerContribution>& layers, double slack) {
  double sum = 0;
  for (const LayerContribution& layer : layers) {
    sum += (layer.input_norm * layer.input_norm + slack) * (layer.delta_norm * layer.delta_norm + slack);
  }
  return sum * kOutward;
}

double FactorisedSensitivity(const std::vector<LayerContribution>& layers, int frac_bits, double clip) {
  double rounded = 0;
  for (const LayerContribution& layer : layers)
    rounded += layer.input_norm * layer.input_norm * layer.outputs;
  const double rounding = std::ldexp(std::sqrt(rounded), -frac_bits);
  return (std::min(clip, std::sqrt(SquaredGradientBound(layers, 0))) + rounding) * kOutward;
}

double PublishedSensitivity(const LinearContribution& example, double clip, double coordinates,
                            double excess_relative, double excess_units) {
  const double unit = Unit(example);
  const double rounding = std::sqrt(coordinates) * unit;
  // The truncated gradient's norm, and that of x' >= its square by at most two units of truncation and the
  // added one.
  const double gradient = UnclippedSensitivity(example) + rounding;
  const double root = std::sqrt(gradient * gradient + 3 * unit);
  // ||g|| y <= 1 + relative + sqrt(x') units 2^-f, and C y is rounded up by less than one unit; or at most
  // the gradient itself, since the factor is below 1. Each coordinate is rounded once more.
  const double scaled = clip * (1 + excess_relative + root * excess_units * unit) + root * unit;
  const double clipped = std::min(scaled, gradient) + rounding;
  // Not clipped: the rounded C y is at least 1, so y > (1 - unit) / C.
  const double least = (1 - unit) / clip - excess_units * unit;
  const double kept = least > 0 ? std::min((1 + excess_relative) / least, gradient) : gradient;
  return std::max(clipped, kept) * kOutward;
}

}  // namespace trefoil::dp
