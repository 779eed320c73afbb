#include "ml/plan/settings.h"

#include <cmath>
#include <functional>

#include "base/error.h"
#include "ml/plan/public_sampling.h"
#include "ml/plan/step_privacy.h"
#include "tests/support/error_text.h"
#include "tests/support/ml_test.h"

namespace trefoil::ml {
namespace {

using namespace testing_support;  // NOLINT(google-build-using-namespace): test helpers only

TEST(CheckDomains, RefusesValuesOutsideTheirDomain) {
  const auto refused = [](auto change) {
    TrainingSettings settings = MnistSettings();
    change(settings);
    EXPECT_THROW((void)MakeStepPlan(settings), ConfigError);
  };
  refused([](TrainingSettings& s) { s.fraction_bits = 7; });
  refused([](TrainingSettings& s) { s.fraction_bits = 25; });
  refused([](TrainingSettings& s) { s.expected_batch = 60001; });
  refused([](TrainingSettings& s) { s.expected_batch = 0; });
  refused([](TrainingSettings& s) { s.steps = 0; });
  refused([](TrainingSettings& s) { s.steps = 500'001; });
  refused([](TrainingSettings& s) { s.learning_rate = -1; });
  refused([](TrainingSettings& s) { s.clip = 0; });
  refused([](TrainingSettings& s) { s.row_norm = 0; });
  refused([](TrainingSettings& s) { s.max_batch_per_owner = 0; });
  refused([](TrainingSettings& s) { s.sigma = -0.5; });
  refused([](TrainingSettings& s) { s.logit_bound = 100; });
  refused([](TrainingSettings& s) { s.momentum = 1; });
  refused([](TrainingSettings& s) { s.momentum = -0.1; });
  refused([](TrainingSettings& s) { s.schedule.final_rate = 1.5; });
  refused([](TrainingSettings& s) { s.schedule.decay_every = 0; });
  refused([](TrainingSettings& s) { s.schedule.decay_factor = 0; });
}

TEST(CheckDomains, RefusesHubersLossOfClassesAndThresholdsThatAreNone) {
  const TrainingSettings settings = SmallHuberSettings(0.5);
  EXPECT_NO_THROW(CheckDomains(settings));
  for (const double refused : {0.0, -1.0, std::ldexp(15.0, -16), 64.1, std::nan("")})
    EXPECT_THROW(CheckDomains(SmallHuberSettings(refused)), ConfigError);
  TrainingSettings classes = settings;
  classes.targets = false;
  EXPECT_THROW(CheckDomains(classes), ConfigError);
}

TEST(CheckRowUnits, RefusesRowsWithoutADigitOnTheirLattice) {
  TrainingSettings settings = SmallSettings();
  settings.fraction_bits = 16;
  settings.row_norm = 0x1.8p-16;
  EXPECT_NO_THROW(CheckRowUnits(settings));
  settings.row_norm = 0x1p-16;
  EXPECT_EQ(
      ErrorText<ConfigError>([&] { CheckRowUnits(settings); }),
      "features.row_norm: found 1.52588e-05, expected more than 2^-16, a unit of rows of 16 fraction bits");
  settings.row_fraction_bits = 4;
  settings.row_norm = 0x1p-4;
  EXPECT_THROW(CheckRowUnits(settings), ConfigError);
  settings.row_norm = 0.07;
  EXPECT_NO_THROW(CheckRowUnits(settings));
}

TEST(CheckDomains, TakesRowBitsOfRowsOfThePartiesOwn) {
  TrainingSettings settings = SmallSettings();
  settings.row_fraction_bits = 4;
  EXPECT_NO_THROW(CheckDomains(settings));
  EXPECT_EQ(RowFractionBits(settings), 4);
  settings.row_fraction_bits = 16;
  EXPECT_NO_THROW(CheckDomains(settings));
  settings.sampling = Sampling::kPublic;
  EXPECT_NO_THROW(CheckDomains(settings));
  settings.sampling = Sampling::kOwnerPoisson;
  const auto refused = [&](const std::function<void(TrainingSettings&)>& change) {
    TrainingSettings changed = settings;
    change(changed);
    EXPECT_THROW(CheckDomains(changed), ConfigError);
  };
  refused([](TrainingSettings& s) { s.row_fraction_bits = 3; });
  refused([](TrainingSettings& s) { s.row_fraction_bits = 17; });
  refused([](TrainingSettings& s) {
    s.sampling = Sampling::kPublic;
    s.deposited = true;
    s.rows = {s.rows[0], 0, 0};
  });
  refused([](TrainingSettings& s) { s.clipping = Clipping::kPublished; });
  const auto in_columns = [](TrainingSettings& s) {
    s.sampling = Sampling::kPublic;
    s.rows = {120, 0, 0};
    s.vertical = VerticalSettings{.features = {1, 2, 3}, .label_party = 1};
  };
  refused(in_columns);
  settings.row_fraction_bits.reset();
  EXPECT_EQ(RowFractionBits(settings), 16);
  in_columns(settings);
  EXPECT_NO_THROW(CheckDomains(settings));
}

TEST(CheckDomains, TakesErrorBitsWhereErrorsOfThePartiesOwnRowsAreClippedAtAFixedClip) {
  TrainingSettings settings = SmallSettings();
  EXPECT_EQ(ErrorFractionBits(settings), 16);
  for (const int bits : {4, 16}) {
    settings.error_fraction_bits = bits;
    EXPECT_NO_THROW(CheckDomains(settings));
    EXPECT_EQ(ErrorFractionBits(settings), bits);
  }
  const auto refused = [&](const std::function<void(TrainingSettings&)>& change) {
    TrainingSettings changed = settings;
    change(changed);
    EXPECT_THROW(CheckDomains(changed), ConfigError);
  };
  refused([](TrainingSettings& s) { s.error_fraction_bits = 3; });
  refused([](TrainingSettings& s) { s.error_fraction_bits = 17; });
  refused([](TrainingSettings& s) {
    s.sampling = Sampling::kPublic;
    s.deposited = true;
    s.rows = {s.rows[0], 0, 0};
  });
  refused([](TrainingSettings& s) { s.hidden = {4}; });
  refused([](TrainingSettings& s) { s.clipping = Clipping::kPublished; });
  refused([](TrainingSettings& s) { s.clipping = Clipping::kExamples; });
  refused([](TrainingSettings& s) { s.adaptive.emplace(); });
}

TEST(DecisionLogit, IsWhereThePredictionIsTheThreshold) {
  TrainingSettings settings = SmallSettings();
  settings.classes = 2;
  for (const Loss loss : {Loss::kOneVsRest, Loss::kSoftmax, Loss::kSquared}) {
    settings.loss = loss;
    settings.threshold = 0.5;
    EXPECT_EQ(DecisionLogit(settings), 0);
    settings.threshold = 0.1;
    EXPECT_NEAR(DecisionLogit(settings), loss == Loss::kSquared ? -0.4 : -std::log(9), 1e-12);
  }
  EXPECT_NO_THROW(CheckDomains(settings));
  settings.classes = 3;
  EXPECT_THROW(CheckDomains(settings), ConfigError);
  settings.classes = 2;
  for (const double refused : {0.0, 1.0, 1e-7}) {
    settings.threshold = refused;
    EXPECT_THROW(CheckDomains(settings), ConfigError);
  }
}

TEST(BatchLimits, AreCutForOwnerPoissonAndTheCapacitiesForPublicSampling) {
  TrainingSettings settings = MnistSettings();
  settings.rows = {500, 20000, 900};
  EXPECT_EQ(BatchLimits(settings), (std::array<std::int64_t, 3>{500, 900, 900}));
  EXPECT_EQ(MakeStepPlan(settings).batch_rows, 500 + 900 + 900);
  EXPECT_EQ(EventOf(MakeStepPlan(settings), 1, 1, 0).limits.max_batch, BatchLimits(settings));
  settings.sampling = Sampling::kPublic;
  EXPECT_EQ(BatchLimits(settings), settings.rows);
  EXPECT_EQ(MakeStepPlan(settings).batch_rows,
            PublicHeight(500 + 20000 + 900, SamplingRate(settings), settings.steps));
}

}  // namespace
}  // namespace trefoil::ml
