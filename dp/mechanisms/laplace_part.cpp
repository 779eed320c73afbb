#include "dp/mechanisms/laplace_part.h"

#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "base/error.h"
#include "dp/record/domain.h"

namespace trefoil::dp {
namespace {

constexpr double kSmallestRate = 0x1p-20;
constexpr double kTabulatedRate = 0x1p-8;
constexpr double kTail = 1e-9;
constexpr int kChernoffPoints = 1000;

/// How many steps a fair walk of `steps` steps, an even number, has made when it is at its start for the last
/// time.
std::uint64_t LastReturn(RandomStream& stream, std::uint64_t steps) {
  std::uint64_t last = 0;
  std::int64_t position = 0;
  for (std::uint64_t done = 0; done < steps; done += 64) {
    const auto count = static_cast<int>(std::min<std::uint64_t>(64, steps - done));
    std::uint64_t coins = stream.NextWord() >> (64 - count);
    if (std::abs(position) > count) {  // too far from the start to get there with these coins
      position += 2 * std::popcount(coins) - count;
      continue;
    }
    for (int i = 1; i <= count; ++i, coins >>= 1) {
      position += (coins & 1) != 0 ? 1 : -1;
      if (position == 0) last = done + static_cast<std::uint64_t>(i);
    }
  }
  return last;
}

/// The law of a negative binomial of this shape, up to a tail of mass kTail at most.
std::vector<double> NegativeBinomial(double shape, double rate) {
  const double r = std::exp(-rate);
  std::vector<double> law{std::pow(-std::expm1(-rate), shape)};
  double sum = law.front();
  while (sum < 1 - kTail) {
    const auto k = static_cast<double>(law.size() - 1);
    law.push_back(law.back() * (shape + k) / (k + 1) * r);
    sum += law.back();
  }
  return law;
}

std::int64_t TabulatedQuantile(double rate, int parts, double level) {
  const auto law = NegativeBinomial(parts / 2.0, rate);
  double within = 0;
  for (std::size_t h = 0; h < law.size(); ++h) {
    double mass = 0;
    for (std::size_t k = 0; k + h < law.size(); ++k) mass += law[k] * law[k + h];
    within += h == 0 ? mass : 2 * mass;
    if (within >= level) return static_cast<std::int64_t>(h);
  }
  return static_cast<std::int64_t>(law.size());
}

}  // namespace

LaplacePart::LaplacePart(const Ratio& rate) : rate_(rate) {
  CheckParameter(rate.numerator > 0 && rate.denominator > 0 && rate.value() >= kSmallestRate,
                 "rate of Laplace noise", rate.denominator > 0 ? rate.value() : 0, "at least 2^-20");
}

std::int64_t LaplacePart::Sample(RandomStream& stream) const {
  const auto plus = static_cast<std::int64_t>(SampleHalfGeometric(stream, rate_));
  return plus - static_cast<std::int64_t>(SampleHalfGeometric(stream, rate_));
}

std::uint64_t SampleHalfGeometric(RandomStream& stream, const Ratio& rate) {
  // A fair walk of 2n steps is at its start for the last time after 2k of them with probability c(k) c(n -
  // k), c(k) = binomial(2k, k) / 4^k (the discrete arcsine law: Feller, volume 1, chapter III, section 4).
  // With n geometric of ratio r, and sum over j of c(j) r^j = 1 / sqrt(1 - r),
  //   P[k] = sum over n >= k of (1 - r) r^n c(k) c(n - k) = (1 - r) c(k) r^k / sqrt(1 - r) = sqrt(1 - r) c(k)
  //   r^k.
  const auto n = static_cast<std::uint64_t>(SampleGeometric(stream, rate));
  return LastReturn(stream, 2 * n) / 2;
}

std::int64_t LaplacePartsQuantile(const Ratio& rate, int parts, double level) {
  Require(parts >= 1 && parts <= 3 && level > 0 && level <= kMaxPartsLevel,
          "LaplacePartsQuantile: 1 to 3 parts, a level above 0 and at most 0.999");
  if (rate.value() >= kTabulatedRate) return TabulatedQuantile(rate.value(), parts, level);
  // At so small rates the law over its scale hardly changes any more; a unit covers by how much it does.
  const auto tabulated = static_cast<double>(TabulatedQuantile(kTabulatedRate, parts, level) + 1);
  return static_cast<std::int64_t>(std::ceil(tabulated * kTabulatedRate / rate.value()));
}

std::int64_t LaplacePartsMargin(const Ratio& rate, double failure) {
  Require(failure > 0 && failure < 1, "LaplacePartsMargin: a probability between 0 and 1");
  // E[exp(t X)] of a part is (1 - r) / sqrt((1 - r e^t) (1 - r e^-t)), r = exp(-rate), for |t| < rate; so
  // P[sum > m] <= exp(-t m) E[exp(t X)]^3 for every such t. Any t gives a true bound: these are enough.
  const double a = rate.value();
  double least = std::numeric_limits<double>::infinity();
  for (int k = 1; k < kChernoffPoints; ++k) {
    const double t = a * k / kChernoffPoints;
    const double log_moment =
        std::log(-std::expm1(-a)) - (std::log(-std::expm1(t - a)) + std::log(-std::expm1(-t - a))) / 2;
    least = std::min(least, (3 * log_moment - std::log(failure)) / t);
  }
  return static_cast<std::int64_t>(std::ceil(least));
}

}  // namespace trefoil::dp
