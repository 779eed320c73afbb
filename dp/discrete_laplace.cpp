#include "dp/discrete_laplace.h"

#include "dp/domain.h"

namespace trefoil::dp {

DiscreteLaplace::DiscreteLaplace(std::uint64_t numerator, std::uint64_t denominator)
    : numerator_(numerator), denominator_(denominator) {
  CheckParameter(numerator > 0, "Laplace scale, numerator", 0, "a number above 0");
  CheckParameter(denominator > 0, "Laplace scale, denominator", 0, "a number above 0");
}

Int128 DiscreteLaplace::Sample(RandomStream& stream) const {
  for (;;) {
    // A geometric number of ratio exp(-1 / numerator), as remainder and quotient by the numerator.
    const auto remainder = UniformBelow(stream, numerator_);
    if (!BernoulliExp(stream, remainder, numerator_)) continue;
    std::uint64_t quotient = 0;
    while (BernoulliExpMinusOne(stream)) ++quotient;
    const Uint128 geometric = remainder + Uint128{numerator_} * quotient;

    const Uint128 magnitude = denominator_ == 1 ? geometric : geometric / denominator_;
    const bool negative = RandomBits<std::uint64_t>(stream, 1) == 1;
    if (negative && magnitude == 0) continue;  // else zero would come up twice as often
    const auto value = static_cast<Int128>(magnitude);
    return negative ? -value : value;
  }
}

}  // namespace trefoil::dp
