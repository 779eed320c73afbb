#include "dp/mechanisms/geometric.h"

#include <cmath>

#include "dp/record/domain.h"

namespace trefoil::dp {
namespace {

constexpr int kEpsilonBits = 32;

}  // namespace

Ratio EpsilonBelow(double epsilon, const char* name) {
  CheckParameter(epsilon >= 0x1p-20 && epsilon <= 1024, name, epsilon, "a number from 2^-20 to 1024");
  return {static_cast<std::uint64_t>(std::floor(std::ldexp(epsilon, kEpsilonBits))),
          std::uint64_t{1} << kEpsilonBits};
}

Uint128 SampleGeometric(RandomStream& stream, const Ratio& rate) {
  for (;;) {
    // A geometric number of ratio exp(-1 / denominator), as remainder and quotient by the denominator.
    const auto remainder = UniformBelow(stream, rate.denominator);
    if (!BernoulliExp(stream, remainder, rate.denominator)) continue;
    std::uint64_t quotient = 0;
    while (BernoulliExpMinusOne(stream)) ++quotient;
    const Uint128 fine = remainder + Uint128{rate.denominator} * quotient;
    return rate.numerator == 1 ? fine : fine / rate.numerator;
  }
}

}  // namespace trefoil::dp
