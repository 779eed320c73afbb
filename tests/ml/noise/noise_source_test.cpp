#include "ml/noise/noise_source.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <thread>

#include <boost/math/distributions/normal.hpp>

#include "base/error.h"
#include "dp/mechanisms/discrete_gaussian.h"
#include "ml/noise/noise_maker.h"
#include "ml/plan/step_privacy.h"
#include "protocols/arithmetic/multiply.h"
#include "tests/support/ml_test.h"
#include "tests/support/noise_law.h"

namespace trefoil::ml {
namespace {

using mpc::Index;
using mpc::RingMatrix;
using namespace testing_support;  // NOLINT(google-build-using-namespace): test helpers only

RandomStream StreamOf(std::uint8_t seed) { return RandomStream(InsecureKey(Seed{seed}, 0)); }

/// A plan with many parameters, so that one step gives many samples.
StepPlan WidePlan(int fraction_bits, Index features) {
  TrainingSettings settings = SmallSettings();
  settings.fraction_bits = fraction_bits;
  settings.features = features;
  return MakeStepPlan(settings);
}

TEST(NoiseSource, GivesTheSamplersValuesStepAfterStep) {
  const StepPlan plan = WidePlan(16, 400);
  NoiseSource source(plan, 1.5, StreamOf(1));
  const dp::DiscreteGaussian sampler(NoiseVariance(plan, 1.5));
  RandomStream stream = StreamOf(1);
  for (int step = 0; step < 10; ++step) {
    const StepNoise noise = source.Next();
    ASSERT_EQ(noise.values().rows(), 401);
    ASSERT_EQ(noise.values().cols(), 3);
    for (Index k = 0; k < noise.values().size(); ++k) {
      ASSERT_EQ(mpc::Signed(noise.values().data()[k]), sampler.Sample(stream));
    }
  }
}

TEST(NoiseSource, IsZeroWithoutNoise) {
  NoiseSource source(WidePlan(16, 20), 0, StreamOf(1));
  EXPECT_TRUE((source.Next().values() == RingMatrix::Zero(21, 3)).all());
}

TEST(NoiseSource, RefusesNoiseNarrowerThanTheLattice) {
  EXPECT_THROW(NoiseSource(WidePlan(8, 20), 1e-5, StreamOf(1)), ConfigError);
}

/// When a loaded machine sets the flag cannot be told, nor how long a sanitizer takes before the first
/// sample, so it is set later and later until that falls into the middle. Who does not look there never
/// leaves an end undrawn: under a deviation of a million, an end of zeros by chance comes once in 10^60.
TEST(NoiseMaker, StopsInTheMiddleOfAStep) {
  constexpr Index kSamples = 2'000'000;
  const dp::DiscreteGaussian sampler(dp::Uint256(1'000'000'000'000));
  bool stopped_inside = false;
  for (int attempt = 0; attempt < 400 && !stopped_inside; ++attempt) {
    std::atomic<bool> unwanted = false;
    std::jthread flag([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(attempt));
      unwanted = true;
    });
    const StepNoise noise = NoiseMaker(kSamples, 1, sampler, StreamOf(2))(unwanted);
    stopped_inside = (noise.values().topRows(10) != 0).any() && (noise.values().bottomRows(10) == 0).all();
  }
  EXPECT_TRUE(stopped_inside);
}

TEST(StepNoise, LeavesNothingWhereItIsMovedFrom) {
  StepNoise noise(3, 3);
  noise.values().setConstant(7);
  const StepNoise moved = std::move(noise);
  EXPECT_EQ(noise.values().size(), 0);  // NOLINT(bugprone-use-after-move): that is the question
  EXPECT_TRUE((moved.values() == 7).all());
}

/// What the parties' noise adds to a sum of gradients, opened: through the real AddNoise on shares. The
/// parties of `silent` contribute nothing.
RingMatrix OpenedNoise(const StepPlan& plan, double sigma, Seed seed, const std::vector<int>& silent) {
  const RingMatrix gradient = RandomSigned(seed.value, plan.settings.features + 1, plan.columns, 40);
  const Outcome outcome = RunOn(
      seed, [&](mpc::Context& party) { return InsecureDeal(party, gradient); },
      [&](mpc::Context& party, const mpc::ArithShare& sum) {
        const bool adds = std::find(silent.begin(), silent.end(), party.self()) == silent.end();
        const auto key = static_cast<std::uint8_t>(3 * seed.value + party.self());
        NoiseSource source(plan, adds ? sigma : 0, StreamOf(key));
        return protocols::Reshare(party, AddNoise(ToAdditive(sum), source.Next().values()));
      });
  return outcome.value - gradient;
}

struct SilenceCase {
  std::vector<int> silent;
};

void PrintTo(const SilenceCase& c, std::ostream* out) {
  *out << "noise of " << 3 - c.silent.size() << " parties";
  if (!c.silent.empty()) *out << ", without party " << c.silent.front();
}

class SumOfNoiseTest : public testing::TestWithParam<SilenceCase> {
 protected:
  [[nodiscard]] static int summands() { return 3 - static_cast<int>(GetParam().silent.size()); }
};

/// The deviation of each summand is just above the least that is allowed, 8 units. A right law
/// fails for one key in a million.
TEST_P(SumOfNoiseTest, IsTheConvolutionAtTheSmallestDeviation) {
  const StepPlan plan = WidePlan(8, 99'999);
  const double sigma = std::ldexp(
      std::ceil(std::ldexp(std::sqrt(2.0) * 8.2 / static_cast<double>(plan.lattice_sensitivity), 20)), -20);
  const auto variance = NoiseVariance(plan, sigma).convert_to<double>();
  ASSERT_LT(variance, 100);
  const RingMatrix noise = OpenedNoise(plan, sigma, Seed{4}, GetParam().silent);
  ExpectSumOfDiscreteGaussians(noise, variance, summands());
}

/// At a real job's deviation. Five standard errors each under the normal law: a right sum fails for one key
/// in 1.7 million at each.
TEST_P(SumOfNoiseTest, HasTheMomentsAndTheTailsAtARealDeviation) {
  constexpr double kSigma = 1.25;
  const StepPlan plan = WidePlan(16, 99'999);
  const double party_variance = NoiseVariance(plan, kSigma).convert_to<double>();
  const RingMatrix noise = OpenedNoise(plan, kSigma, Seed{5}, GetParam().silent);
  double sum = 0, squares = 0, fourths = 0, beyond = 0, positive = 0;
  for (Index k = 0; k < noise.size(); ++k) {
    const double z =
        static_cast<double>(mpc::Signed(noise.data()[k])) / std::sqrt(party_variance * summands());
    sum += z;
    squares += z * z;
    fourths += z * z * z * z;
    beyond += std::abs(z) > 3.5;
    positive += z > 0;
  }
  const auto count = static_cast<double>(noise.size());
  const double tail = 2 * cdf(boost::math::normal(), -3.5);
  EXPECT_NEAR(sum / count, 0, 5 / std::sqrt(count));
  EXPECT_NEAR(squares / count, 1, 5 * std::sqrt(2 / count));
  EXPECT_NEAR(fourths / count, 3, 5 * std::sqrt(96 / count));
  EXPECT_NEAR(beyond, count * tail, 5 * std::sqrt(count * tail));
  EXPECT_NEAR(positive, count / 2, 5 * std::sqrt(count / 4));
}

/// The promise to whoever knows one party's noise, or where one party adds none: at least sigma^2 Delta^2.
TEST_P(SumOfNoiseTest, HasAtLeastTheVarianceThatIsPromised) {
  constexpr double kSigma = 0.75;
  const StepPlan plan = WidePlan(16, 99'999);
  const RingMatrix noise = OpenedNoise(plan, kSigma, Seed{6}, GetParam().silent);
  const double promised = kSigma * static_cast<double>(plan.lattice_sensitivity);
  double squares = 0;
  for (Index k = 0; k < noise.size(); ++k) {
    squares += std::pow(static_cast<double>(mpc::Signed(noise.data()[k])) / promised, 2);
  }
  const auto count = static_cast<double>(noise.size());
  // Five standard errors of a mean of squares: a right sum falls below for one key in three million.
  EXPECT_GE(squares / count, 1 - 5 * std::sqrt(2 / count));
}

INSTANTIATE_TEST_SUITE_P(Parties, SumOfNoiseTest,
                         testing::Values(SilenceCase{{}}, SilenceCase{{0}}, SilenceCase{{1}},
                                         SilenceCase{{2}}));

}  // namespace
}  // namespace trefoil::ml
