#include "dp/mechanisms/discrete_laplace.h"

#include "dp/mechanisms/geometric.h"
#include "dp/record/domain.h"

namespace trefoil::dp {

DiscreteLaplace::DiscreteLaplace(std::uint64_t numerator, std::uint64_t denominator)
    : numerator_(numerator), denominator_(denominator) {
  CheckParameter(numerator > 0, "Laplace scale, numerator", 0, "a number above 0");
  CheckParameter(denominator > 0, "Laplace scale, denominator", 0, "a number above 0");
}

Int128 DiscreteLaplace::Sample(RandomStream& stream) const {
  for (;;) {
    const Uint128 magnitude = SampleGeometric(stream, {denominator_, numerator_});
    const bool negative = RandomBits<std::uint64_t>(stream, 1) == 1;
    if (negative && magnitude == 0) continue;  // else zero would come up twice as often
    const auto value = static_cast<Int128>(magnitude);
    return negative ? -value : value;
  }
}

}  // namespace trefoil::dp
