#include "ml/plan/clip_grid.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>

#include "base/error.h"
#include "ml/plan/step_plan.h"
#include "ml/plan/step_privacy.h"
#include "tests/support/ml_test.h"

namespace trefoil::ml {
namespace {

using mpc::Word;
using namespace testing_support;  // NOLINT(google-build-using-namespace): test helpers only

TrainingSettings AdaptiveSettings(double quantile = 0.5) {
  TrainingSettings settings = SmallSettings();
  settings.adaptive = AdaptiveClip{.quantile = quantile};
  return settings;
}

TEST(MakeClipGrid, IsGeometricAndWithinWhatIsPlannedFor) {
  const TrainingSettings settings = AdaptiveSettings();
  const ClipGrid grid = MakeClipGrid(settings);
  for (int k = -kClipReach; k <= kClipReach; ++k) {
    const double exact = settings.clip * std::exp2(k / 64.0);
    EXPECT_NEAR(ClipAt(settings, grid, k) / exact, 1, 2e-4) << k;
    EXPECT_LE(ClipScale(grid, k), Word{1} << (kClipScaleBits + kClipOctaves));
  }
  EXPECT_EQ(ClipAt(settings, grid, 0), settings.clip);
  EXPECT_EQ(ClipAt(settings, grid, kClipReach), 8 * settings.clip);
  EXPECT_EQ(ClipAt(settings, grid, -kClipReach), settings.clip / 8);
  EXPECT_TRUE(MakeClipGrid(SmallSettings()).scales.empty());
}

TEST(MantissaAt, HasWhatAStepLacksOfItsClip) {
  const StepPlan plan = MakeStepPlan(AdaptiveSettings());
  const auto peak = static_cast<double>(plan.step_size.mantissa);
  EXPECT_NEAR(std::ldexp(peak, -plan.step_size.exponent), 8 * 4.0 / 30, 1e-5);
  for (const int k : {-kClipReach, -100, 0, 77, kClipReach}) {
    const auto mantissa = static_cast<double>(MantissaAt(plan, 3, k));
    EXPECT_NEAR(mantissa / peak, std::exp2((k - kClipReach) / 64.0), 2e-4 * mantissa / peak + 0.5 / peak)
        << k;
  }
}

// By the formula in doubles, with the rounding to the grid left out.
TEST(NextClip, MovesByTheFormulaToTheNearestPointAndStaysOnTheGrid) {
  std::mt19937_64 random(1);
  for (const double quantile : {0.1, 0.5, 0.9}) {
    const TrainingSettings settings = AdaptiveSettings(quantile);
    const ClipGrid grid = MakeClipGrid(settings);
    for (const int bits : {4, 16, 24}) {
      for (int n = 0; n < 500; ++n) {
        const double within = static_cast<double>(random() % 2001) / 1000 * 60 - 60;
        const int k = static_cast<int>(random() % (2 * kClipReach + 1)) - kClipReach;
        const auto word = static_cast<Word>(std::llround(std::ldexp(within, bits)));
        const double moved =
            -0.2 * (within / (2 * settings.expected_batch) + 0.5 - quantile) * 64 / std::log(2.0);
        const double exact = std::clamp(k + moved, -192.0, 192.0);
        // Half a point, and what `within` loses at 4 bits or 8.
        EXPECT_NEAR(NextClip(settings, grid, k, word, bits), exact, 0.52) << within;
      }
    }
    EXPECT_EQ(NextClip(settings, grid, -kClipReach, Word{1} << 62, 16), -kClipReach);
    for (const auto word :
         {std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()}) {
      const int next = NextClip(settings, grid, 0, static_cast<Word>(word), 24);
      EXPECT_LE(std::abs(next), 50);
      EXPECT_EQ(next<0, word> 0);
    }
  }
}

// Where as many gradients are within the clip as there are to be, it stays: a step down and one up are alike.
TEST(NextClip, RestsAtTheQuantile) {
  const TrainingSettings settings = AdaptiveSettings(0.75);
  const ClipGrid grid = MakeClipGrid(settings);
  EXPECT_EQ(NextClip(settings, grid, 5, Word{15} << 16, 16), 5);  // 22.5 of 30 within
  EXPECT_LT(NextClip(settings, grid, 5, Word{30} << 16, 16), 5);
  EXPECT_GT(NextClip(settings, grid, 5, Word{0}, 16), 5);
}

// At both ends of the quantiles all gradients within the clip, and all beyond it, still move it.
TEST(NextClip, IsStuckAtNoQuantileThatIsTaken) {
  for (const double quantile : {0.05, 0.95}) {
    const TrainingSettings settings = AdaptiveSettings(quantile);
    EXPECT_NO_THROW(CheckDomains(settings));
    const ClipGrid grid = MakeClipGrid(settings);
    EXPECT_LT(NextClip(settings, grid, 5, Word{30} << 16, 16), 5) << quantile;
    EXPECT_GT(NextClip(settings, grid, 5, static_cast<Word>(-30) << 16, 16), 5) << quantile;
  }
}

/// sigma^2 (1/sigma_g^2 + 1/c^2) of the variances as integers: at most 1.
double ShareOfJointRelease(const StepPlan& plan, double sigma) {
  const auto squared = [](std::uint64_t sensitivity) {
    return static_cast<double>(sensitivity) * static_cast<double>(sensitivity);
  };
  const double gradient =
      squared(plan.lattice_sensitivity) / (2 * NoiseVariance(plan, sigma).convert_to<double>());
  const double counts = squared(ClipCountSensitivity(plan.settings)) /
                        (2 * ClipCountVariance(plan.settings).convert_to<double>());
  return sigma * sigma * (gradient + counts);
}

TEST(GradientSigma, LeavesBothReleasesTogetherTheMultiplierThatIsCharged) {
  for (const double sigma : {0.3, 1.0, 2.0}) {
    for (const double counts : {1.5, 5.0, 1000.0}) {
      TrainingSettings settings = AdaptiveSettings();
      settings.adaptive->count_sigma = counts;
      const StepPlan plan = MakeStepPlan(settings);
      EXPECT_LE(ShareOfJointRelease(plan, sigma), 1 + 1e-15);
      EXPECT_GT(ShareOfJointRelease(plan, sigma), 1 - 1e-4);
      EXPECT_GT(GradientSigma(settings, sigma), sigma);
      EXPECT_LE(GradientSigma(settings, sigma), 1.4143 * sigma);
    }
  }
  EXPECT_EQ(GradientSigma(SmallSettings(), 1.5), 1.5);
  EXPECT_EQ(GradientSigma(AdaptiveSettings(), 0), 0);
}

TEST(MakePlan, ChargesAnAdaptiveClipAsOneReleaseAStep) {
  TrainingSettings settings = AdaptiveSettings();
  settings.sigma = 1;
  settings.adaptive->count_sigma = 4;
  const PrivacyPlan adaptive = MakePlan(settings);
  const auto event = std::get<dp::DpSgdSteps>(adaptive.events.at(0));
  EXPECT_EQ(event.clip_count_sigma, 4);
  EXPECT_EQ(event.coordinates, 7 * 3 + 1);
  EXPECT_EQ(event.sigma, 1);
  const StepPlan plan = MakeStepPlan(settings);
  const double narrower =
      std::min(NoiseVariance(plan, 1).convert_to<double>(), ClipCountVariance(settings).convert_to<double>());
  EXPECT_EQ(event.party_deviation, std::floor(std::sqrt(narrower)));
  settings.adaptive.reset();
  EXPECT_NEAR(MakePlan(settings).epsilon_insider / adaptive.epsilon_insider, 1, 1e-6);
}

TEST(MakePlan, RefusesCountsThatTakeMoreThanHalfOfAStep) {
  TrainingSettings settings = AdaptiveSettings();
  settings.sigma = 1;
  settings.adaptive->count_sigma = 0.708;
  EXPECT_NO_THROW((void)MakePlan(settings));
  settings.adaptive->count_sigma = 0.7;
  try {
    (void)MakePlan(settings);
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_NE(std::string(error.what()).find("privacy.clip_count_sigma: found 0.7, expected at least 0.7071"),
              std::string::npos)
        << error.what();
  }
}

TEST(CheckDomains, RefusesWhatAnAdaptiveClipIsNotMadeFor) {
  const auto refused = [](const auto& change) {
    TrainingSettings settings = AdaptiveSettings();
    change(settings);
    EXPECT_THROW(CheckDomains(settings), ConfigError);
  };
  EXPECT_NO_THROW(CheckDomains(AdaptiveSettings()));
  refused([](TrainingSettings& s) { s.hidden = {4}; });
  refused([](TrainingSettings& s) { s.clipping = Clipping::kPublished; });
  refused([](TrainingSettings& s) { s.clipping = Clipping::kExamples; });
  refused([](TrainingSettings& s) { s.sampling = Sampling::kPublic; });
  refused([](TrainingSettings& s) { s.groups = true; });
  refused([](TrainingSettings& s) { s.adaptive->quantile = 0.96; });
  refused([](TrainingSettings& s) { s.adaptive->quantile = 0.04; });
  refused([](TrainingSettings& s) { s.adaptive->count_sigma = 0; });
  refused([](TrainingSettings& s) {
    s.deposited = true;
    s.rows = {120, 0, 0};
    s.sampling = Sampling::kFull;
    s.expected_batch = 120;
  });
}

TEST(Fingerprint, DiffersWhereAnAdaptiveClipDoes) {
  const auto text = [](const TrainingSettings& settings) { return Fingerprint(MakeStepPlan(settings), 1); };
  const auto one = text(AdaptiveSettings());
  EXPECT_NE(one, text(AdaptiveSettings(0.51)));
  TrainingSettings noisier = AdaptiveSettings();
  noisier.adaptive->count_sigma = 1.6;
  EXPECT_NE(one, text(noisier));
}

}  // namespace
}  // namespace trefoil::ml
