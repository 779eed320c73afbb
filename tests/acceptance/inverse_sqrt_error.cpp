// The error of the inverse square root (result minus true value) for inputs from 0.01 to 300, as in PEA's
// figure of Protocol 1: three in-process parties, fresh masks. Prints CSV.
#include <cmath>
#include <cstdio>

#include "base/secrets/random.h"
#include "protocols/arithmetic/reveal.h"
#include "protocols/functions/inverse_sqrt.h"
#include "tests/support/run_parties.h"

namespace trefoil {
namespace {

constexpr int kFractionBits = 16;
constexpr mpc::Index kInputs = 600;

/// Evenly on a logarithmic scale.
mpc::RingMatrix Inputs() {
  mpc::RingMatrix x(kInputs, 1);
  for (mpc::Index k = 0; k < kInputs; ++k) {
    const double fraction = static_cast<double>(k) / static_cast<double>(kInputs - 1);
    x(k, 0) = mpc::Encode(0.01 * std::pow(300 / 0.01, fraction), kFractionBits, 1000);
  }
  return x;
}

template <typename Function>
mpc::RingMatrix Opened(const mpc::RingMatrix& x, Function function) {
  auto stream = RandomStream::FromSystem();
  const testing_support::Seed seed{static_cast<std::uint8_t>(stream.NextWord())};
  return testing_support::RunParties(seed, [&](mpc::Context& party) {
    const mpc::FixedShare input(testing_support::InsecureDeal(party, x), kFractionBits);
    return protocols::Reveal(party, function(party, input).ring(), protocols::ReleaseReason::kTest);
  })[0];
}

}  // namespace
}  // namespace trefoil

int main() {
  using namespace trefoil;  // NOLINT(google-build-using-namespace): the program itself
  const mpc::RingMatrix x = Inputs();
  const auto in_form = [](protocols::Form form) {
    return [form](mpc::Context& party, const mpc::FixedShare& input) {
      return protocols::InverseSqrt(party, input, form);
    };
  };
  const mpc::RingMatrix published = Opened(x, [](mpc::Context& party, const mpc::FixedShare& input) {
    return protocols::InverseSqrtPublished(party, input);
  });
  const mpc::RingMatrix bulk = Opened(x, in_form(protocols::Form::kBulk));
  const mpc::RingMatrix latency = Opened(x, in_form(protocols::Form::kLatency));
  std::puts("input,true_value,error_published,error_bulk,error_latency");
  for (mpc::Index k = 0; k < kInputs; ++k) {
    const double input = mpc::Decode(x(k, 0), kFractionBits);
    const double truth = 1 / std::sqrt(input);
    const auto error = [&](const mpc::RingMatrix& result) {
      return mpc::Decode(result(k, 0), kFractionBits) - truth;
    };
    std::printf("%.6f,%.8f,%.3e,%.3e,%.3e\n", input, truth, error(published), error(bulk), error(latency));
  }
  return 0;
}
