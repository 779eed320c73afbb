// Truncation on 2^24 random values and the inverse square root on 10^5 inputs, over three in-process parties
// with fresh keys. Prints what was measured; exits with 0 if every bound held, else 1.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>

#include "base/secrets/random.h"
#include "protocols/arithmetic/reveal.h"
#include "protocols/arithmetic/truncate.h"
#include "protocols/functions/inverse_sqrt.h"
#include "tests/support/run_parties.h"

namespace trefoil {
namespace {

using mpc::Index;
using mpc::RingMatrix;
using testing_support::InsecureDeal;
using testing_support::RunParties;
using testing_support::Seed;

/// Error of a truncation in units: signed sums over many values.
struct TruncationErrors {
  double sum = 0;
  double variance = 0;
  double largest = 0;
  std::int64_t count = 0;
};

void Accumulate(TruncationErrors& errors, const RingMatrix& x, const RingMatrix& y, int bits) {
  for (Index k = 0; k < x.size(); ++k) {
    const std::int64_t floor = mpc::Signed(x.data()[k]) >> bits;
    const double fraction =
        std::ldexp(static_cast<double>(x.data()[k] & ((mpc::Word{1} << bits) - 1)), -bits);
    const double error = static_cast<double>(mpc::Signed(y.data()[k]) - floor) - fraction;
    errors.sum += error;
    errors.variance += fraction * (1 - fraction);
    errors.largest = std::max(errors.largest, std::abs(error));
    ++errors.count;
  }
}

bool CheckTruncation(int bits) {
  constexpr int kChunks = 16;
  constexpr Index kChunk = Index{1} << 20;
  TruncationErrors errors;
  auto stream = RandomStream::FromSystem();
  for (int chunk = 0; chunk < kChunks; ++chunk) {
    RingMatrix x(kChunk, 1);
    // Uniform in [-2^61, 2^61).
    for (Index k = 0; k < kChunk; ++k) x(k, 0) = static_cast<mpc::Word>(mpc::Signed(stream.NextWord()) >> 2);
    const auto opened =
        RunParties(Seed{static_cast<std::uint8_t>(stream.NextWord())}, [&](mpc::Context& party) {
          return protocols::Reveal(party, protocols::Truncate(party, InsecureDeal(party, x), bits),
                                   protocols::ReleaseReason::kTest);
        });
    Accumulate(errors, x, opened[0], bits);
  }
  const auto count = static_cast<double>(errors.count);
  const double mean = errors.sum / count;
  const double standard_error = std::sqrt(errors.variance) / count;
  const bool passed = errors.largest < 1 && std::abs(mean) <= 5 * standard_error;
  std::printf(
      "%s truncation by %d bits: %lld values, largest error %.6f units, mean %.3g units, %.2f standard "
      "errors\n",
      passed ? "PASS" : "FAIL", bits, static_cast<long long>(errors.count), errors.largest, mean,
      mean / standard_error);
  return passed;
}

bool CheckInverseSqrt(const char* name, mpc::FixedShare (*function)(mpc::Context&, const mpc::FixedShare&),
                      int f) {
  constexpr Index kCount = 100000;
  std::random_device device;
  std::mt19937_64 generator(device());
  std::uniform_real_distribution<double> exponent(0, 63);
  RingMatrix x(kCount, 1);
  for (Index k = 0; k < kCount; ++k) {
    x(k, 0) = static_cast<mpc::Word>(std::clamp(std::exp2(exponent(generator)), 1.0, 9.2233720368547748e18));
  }
  const auto opened = RunParties(Seed{static_cast<std::uint8_t>(device())}, [&](mpc::Context& party) {
    return protocols::Reveal(party, function(party, mpc::FixedShare(InsecureDeal(party, x), f)).ring(),
                             protocols::ReleaseReason::kTest);
  });
  const protocols::Excess excess = protocols::InverseSqrtExcess(f);
  double above_relative = -1;
  double below_relative = 0;
  double above_units = -1e9;
  std::int64_t beyond = 0;
  for (Index k = 0; k < kCount; ++k) {
    const double truth = 1 / std::sqrt(std::ldexp(static_cast<double>(x(k, 0)), -f));
    const double value = mpc::Decode(opened[0](k, 0), f);
    const double units = std::ldexp(value - truth, f);
    above_units = std::max(above_units, units);
    beyond += value > truth * (1 + excess.relative) + std::ldexp(excess.units, -f);
    // Relative errors are told where the true value has at least 2^10 units.
    if (truth < std::ldexp(1024.0, -f)) continue;
    above_relative = std::max(above_relative, value / truth - 1);
    below_relative = std::max(below_relative, 1 - value / truth);
  }
  std::printf(
      "%s %s, f = %d: %lld inputs, at most %.4f %% below and %.5f %% above the true value (where that has "
      "1,024 units), at most %.3f units above; %lld beyond the charged %.5f %% + %.2f units\n",
      beyond == 0 ? "PASS" : "FAIL", name, f, static_cast<long long>(kCount), 100 * below_relative,
      100 * above_relative, above_units, static_cast<long long>(beyond), 100 * excess.relative, excess.units);
  return beyond == 0;
}

mpc::FixedShare AsPublished(mpc::Context& party, const mpc::FixedShare& x) {
  return protocols::InverseSqrtPublished(party, x);
}

mpc::FixedShare InBulkForm(mpc::Context& party, const mpc::FixedShare& x) {
  return protocols::InverseSqrt(party, x);
}

mpc::FixedShare InLatencyForm(mpc::Context& party, const mpc::FixedShare& x) {
  return protocols::InverseSqrt(party, x, protocols::Form::kLatency);
}

}  // namespace
}  // namespace trefoil

int main() {
  using namespace trefoil;  // NOLINT(google-build-using-namespace): the program itself
  bool passed = CheckTruncation(16);
  for (const int f : {16, 20}) {
    passed = CheckInverseSqrt("inverse square root, Protocol 1", AsPublished, f) && passed;
    passed = CheckInverseSqrt("inverse square root, bulk form", InBulkForm, f) && passed;
    passed = CheckInverseSqrt("inverse square root, latency form", InLatencyForm, f) && passed;
  }
  return passed ? 0 : 1;
}
