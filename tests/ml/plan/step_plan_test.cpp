#include "ml/plan/step_plan.h"

#include <gmock/gmock.h>

#include <cmath>
#include <functional>
#include <set>

#include "base/error.h"
#include "ml/batches/batch_source.h"
#include "ml/dpsgd/dp_sgd.h"
#include "ml/dpsgd/initial_weights.h"
#include "ml/dpsgd/training.h"
#include "ml/plan/public_sampling.h"
#include "ml/plan/step_privacy.h"
#include "ml/plan/step_ranges.h"
#include "ml/records.h"
#include "protocols/arithmetic/input_ahead.h"
#include "tests/support/error_text.h"
#include "tests/support/ml_test.h"

namespace trefoil::ml {
namespace {

using namespace testing_support;  // NOLINT(google-build-using-namespace): test helpers only
using testing::EndsWith;

TEST(MakeStepPlan, ChargesTheRoundingOfTheErrorsToTheSensitivity) {
  const StepPlan plan = MakeStepPlan(MnistSettings());
  // C + sqrt(R^2 + 1) sqrt(c) 2^-f
  EXPECT_NEAR(plan.sensitivity, 0.5 + std::sqrt(2.0) * std::sqrt(10.0) / 65536, 1e-9);
  EXPECT_GE(static_cast<double>(plan.lattice_sensitivity), std::ldexp(plan.sensitivity, 32));
}

/// Rounding down is one outcome of the coins that the certificate holds for.
TEST(MakeStepPlan, ChargesExactTruncationTheSame) {
  TrainingSettings settings = MnistSettings();
  const StepPlan stochastic = MakeStepPlan(settings);
  settings.truncation = protocols::Rounding::kExact;
  const StepPlan exact = MakeStepPlan(settings);
  EXPECT_EQ(exact.lattice_sensitivity, stochastic.lattice_sensitivity);
  EXPECT_EQ(exact.example.error_norm, stochastic.example.error_norm);
  EXPECT_EQ(exact.activation.options.rounding, protocols::Rounding::kExact);
  EXPECT_EQ(exact.clip.pieces.rounding, protocols::Rounding::kExact);
  EXPECT_NE(Fingerprint(exact, 1), Fingerprint(stochastic, 1));
}

TEST(MakeStepPlan, ChargesTheLargestClassWeight) {
  TrainingSettings settings = SmallSettings();
  settings.clipping = Clipping::kExamples;
  const StepPlan plain = MakeStepPlan(settings);
  settings.class_weights = {0.5, 3, 1};
  const StepPlan weighted = MakeStepPlan(settings);
  // A unit of each of three errors more, times the row's norm.
  EXPECT_NEAR(weighted.sensitivity, 3 * plain.sensitivity + std::sqrt(2.0) * std::sqrt(3.0) / 65536, 1e-9);
  EXPECT_EQ(weighted.class_weights.of_class, (std::vector<mpc::Word>{1 << 15, 3 << 16, 1 << 16}));
  EXPECT_NE(Fingerprint(weighted, 1), Fingerprint(plain, 1));
}

TEST(MakeStepPlan, ChargesTheLargestWeightOfARecord) {
  TrainingSettings settings = SmallSettings();
  settings.clipping = Clipping::kExamples;
  const StepPlan plain = MakeStepPlan(settings);
  settings.max_record_weight = 3;
  const StepPlan weighted = MakeStepPlan(settings);
  const double rounding = std::sqrt(2.0) * std::sqrt(3.0) / 65536;
  EXPECT_NEAR(weighted.sensitivity, 3 * plain.sensitivity + rounding, 1e-9);
  EXPECT_EQ(weighted.record_weights.largest, mpc::Word{3} << weighted.record_weights.frac_bits);
  EXPECT_EQ(EncodedColumns(weighted), EncodedColumns(plain) + 1);
  EXPECT_NE(Fingerprint(weighted, 1), Fingerprint(plain, 1));
  // Those of classes come before: what one record can weigh is the product.
  settings.class_weights = {0.5, 2, 1};
  const StepPlan both = MakeStepPlan(settings);
  EXPECT_NEAR(both.sensitivity, 3 * (2 * plain.sensitivity + rounding) + rounding, 1e-9);
}

TEST(MakeStepPlan, RefusesALargestWeightOfARecordOutOfItsRange) {
  TrainingSettings settings = SmallSettings();
  for (const double bound : {0.0, 1001.0, std::nan("")}) {
    settings.max_record_weight = bound;
    EXPECT_THROW((void)MakeStepPlan(settings), ConfigError);
  }
  settings.max_record_weight = 1000;
  EXPECT_NO_THROW((void)MakeStepPlan(settings));
  settings.fraction_bits = 24;  // 2^48 of an error and a unit weight, times 2^10, times 2^8 at least
  EXPECT_THROW((void)MakeStepPlan(settings), ConfigError);
}

// Small weights make errors small, and with them the norm of a gradient: that of a row has to fit by itself.
TEST(MakeStepPlan, RefusesARowWhoseSquaredNormCouldWrapHoweverLittleItWeighs) {
  TrainingSettings settings = SmallSettings();
  settings.max_record_weight = 0.001;
  settings.fraction_bits = 20;
  settings.row_norm = 512;  // squares below 2^58
  EXPECT_NO_THROW((void)MakeStepPlan(settings));
  settings.fraction_bits = 24;
  settings.row_norm = 1024;  // 2^68
  EXPECT_THROW((void)MakeStepPlan(settings), ConfigError);
  settings.max_record_weight.reset();
  settings.class_weights = {0.001, 0.001, 0.001};
  EXPECT_THROW((void)MakeStepPlan(settings), ConfigError);
}

// An error times a label times a weight is truncated: below 2^62 at every scale.
TEST(MakeStepPlan, KeepsWeightedErrorsBelow2To62AtEveryScale) {
  for (const int f : {8, 16, 20, 24}) {
    for (const double largest : {0.001, 0.3, 1.0, 7.0}) {
      TrainingSettings settings = SmallSettings();
      settings.fraction_bits = f;
      settings.class_weights = {largest, largest, largest / 2 > 0.001 ? largest / 2 : largest};
      const StepPlan plan = MakeStepPlan(settings);
      const auto weight = static_cast<double>(plan.class_weights.of_class[0]);
      EXPECT_LT(std::ldexp(weight * plan.activation.error_norm, 2 * f), std::ldexp(1.0, 62)) << f;
      EXPECT_GE(plan.class_weights.of_class[1], 1U);
    }
  }
}

TEST(MakeStepPlan, RefusesWeightsThatItsFractionBitsRoundToOthers) {
  TrainingSettings settings = SmallSettings();
  settings.fraction_bits = 24;
  settings.class_weights = {0.001, 8, 1};
  EXPECT_THROW((void)MakeStepPlan(settings), ConfigError);
  settings.fraction_bits = 16;
  EXPECT_NO_THROW((void)MakeStepPlan(settings));
}

TEST(MakeStepPlan, RefusesClassWeightsThatAreNotOneAClassFromTheirRange) {
  for (const auto& weights :
       {std::vector<double>{1, 1}, std::vector<double>{1, 1, 0}, std::vector<double>{1, 1, 1001}}) {
    TrainingSettings settings = SmallSettings();
    settings.class_weights = weights;
    EXPECT_THROW((void)MakeStepPlan(settings), ConfigError);
  }
}

TEST(MakeStepPlan, KeepsSquaredGradientNormsBelow2To62AtEveryScale) {
  for (const int f : {8, 12, 16, 20, 24}) {
    TrainingSettings settings = SmallSettings();
    settings.fraction_bits = f;
    settings.classes = 10;
    const StepPlan plan = MakeStepPlan(settings);
    const double squared = dp::SquaredGradientBound(plan.example, std::ldexp(1.0, -plan.row_norm_bits));
    EXPECT_LT(std::ldexp(squared, plan.row_norm_bits + 2 * f), std::ldexp(1.0, 62)) << f;
    EXPECT_LE(plan.row_norm_bits, f);
  }
}

TEST(MakeStepPlan, RefusesJobsWhoseGradientCanLeaveTheRing) {
  TrainingSettings settings = MnistSettings();
  settings.fraction_bits = 24;
  settings.max_batch_per_owner = 20000;
  settings.clip = 100;
  EXPECT_THROW((void)MakeStepPlan(settings), ConfigError);
}

TEST(MakeStepPlan, SaysWhetherNoiseOrRecordsFillTheRing) {
  TrainingSettings settings = MnistSettings();
  settings.fraction_bits = 20;
  settings.sigma = 1000;
  const auto refusal = [&] { return ErrorText<ConfigError>([&] { (void)MakeStepPlan(settings); }); };
  EXPECT_EQ(refusal().rfind("the noise of sigma ", 0), 0U) << refusal();
  EXPECT_NE(refusal().find("raise privacy.epsilon"), std::string::npos) << refusal();
  settings = MnistSettings();
  settings.fraction_bits = 24;
  settings.max_batch_per_owner = 100'000;
  EXPECT_EQ(refusal().rfind("the noisy gradient times the learning rate can reach 2^62", 0), 0U) << refusal();
}

TEST(MakeStepPlan, NamesTheClipsKeyWhereARangeIsTooWide) {
  TrainingSettings settings = MnistSettings();
  settings.fraction_bits = 24;
  settings.max_batch_per_owner = 100'000;
  const auto refusal = [&] { return ErrorText<ConfigError>([&] { (void)MakeStepPlan(settings); }); };
  const std::string keys = "lower fraction_bits, training.max_batch_per_owner, training.learning_rate or ";
  EXPECT_NE(refusal().find(keys + "privacy.clip"), std::string::npos) << refusal();
  settings.adaptive.emplace();
  EXPECT_NE(refusal().find(keys + "privacy.first_clip"), std::string::npos) << refusal();
  // The clip bounds no gradient there.
  settings.adaptive.reset();
  settings.clipping = Clipping::kExamples;
  EXPECT_EQ(refusal().find("clip"), std::string::npos) << refusal();
}

TEST(MakeStepPlan, LeavesRoomForTheVelocity) {
  TrainingSettings settings = MnistSettings();
  settings.fraction_bits = 20;
  const StepPlan still = MakeStepPlan(settings);
  settings.momentum = 0.9;
  const StepPlan moving = MakeStepPlan(settings);
  EXPECT_EQ(still.momentum_factor, 0U);
  EXPECT_NEAR(std::ldexp(static_cast<double>(moving.momentum_factor), -moving.update_shift), 0.9, 1e-6);
  // What the range analysis takes for the largest batch and noise of 1: below 2^62 after ten times the
  // update.
  const double sum = (2700 + 40 * 3) * static_cast<double>(moving.lattice_sensitivity);
  EXPECT_LT(10 * sum * static_cast<double>(moving.step_size.mantissa), std::ldexp(1.0, 62));
  EXPECT_NE(Fingerprint(moving, 1), Fingerprint(still, 1));
}

TEST(MakeStepPlan, RefusesAMomentumWhoseVelocityCanLeaveTheRing) {
  TrainingSettings settings = MnistSettings();
  settings.fraction_bits = 20;
  EXPECT_NO_THROW((void)MakeStepPlan(settings));
  settings.momentum = 0.99999;
  EXPECT_THROW((void)MakeStepPlan(settings), ConfigError);
}

TEST(MakeStepPlan, NamesARatesEndsAndWhatTheyFollowFrom) {
  TrainingSettings settings = SmallSettings();
  const auto refusal = [&](double rate) {
    settings.learning_rate = rate;
    return ErrorText<ConfigError>([&] { (void)MakeStepPlan(settings); });
  };
  const auto ends = [&] {
    const std::string text = refusal(1e30);
    const std::string least = "training.learning_rate: found 1e+30, expected at least ";
    EXPECT_EQ(text.rfind(least, 0), 0U) << text;
    const std::string most = " and below ";
    return std::pair(std::stod(text.substr(least.size())),
                     std::stod(text.substr(text.find(most) + most.size())));
  };
  const auto expect_no_others = [&] {
    const auto [least, most] = ends();
    settings.learning_rate = least * 1.001;
    EXPECT_NO_THROW((void)MakeStepPlan(settings));
    settings.learning_rate = most * 0.999;
    EXPECT_NO_THROW((void)MakeStepPlan(settings));
    EXPECT_NE(refusal(least * 0.999).find(" with this training.expected_batch"), std::string::npos);
    EXPECT_NE(refusal(most * 1.001).find(" with this training.expected_batch"), std::string::npos);
    return most;
  };
  const double still = expect_no_others();
  EXPECT_THAT(refusal(1e30), EndsWith(" with this training.expected_batch"));
  settings.momentum = 0.9;
  const double moving = expect_no_others();
  EXPECT_LT(moving, still);
  EXPECT_THAT(refusal(1e30), EndsWith(" with this training.expected_batch and training.momentum"));
  settings.row_fraction_bits = 8;
  settings.error_fraction_bits = 8;
  EXPECT_LT(expect_no_others(), moving);
  EXPECT_THAT(refusal(1e30), EndsWith(" with this training.expected_batch, features.fraction_bits, "
                                      "training.error_fraction_bits and training.momentum"));
  settings.momentum = 0;
  settings.adaptive.emplace();
  settings.error_fraction_bits.reset();
  (void)expect_no_others();
}

/// Rows that a gradient sum of `rows` records' clips takes; noise aside.
TrainingSettings SettingsFor(std::int64_t rows) {
  TrainingSettings settings = SmallSettings();
  settings.rows = {rows, 0, 0};
  settings.max_batch_per_owner = rows;
  settings.expected_batch = 30;
  settings.steps = 1;
  return settings;
}

// 127 clips of 1/2 and their rounding are below 2^6, 128 are not: 2^38 with 32 bits, and 2 more.
TEST(RowBits, AreTheFewestThatTheGradientSumTakes) {
  EXPECT_EQ(MakeStepPlan(SettingsFor(127)).row_bits, 40);
  EXPECT_EQ(MakeStepPlan(SettingsFor(128)).row_bits, 48);
  TrainingSettings noisy = SettingsFor(100);  // and 120 deviations of half a clip's noise
  noisy.sigma = 0.2;
  EXPECT_EQ(MakeStepPlan(noisy).row_bits, 40);
  noisy.sigma = 0.25;
  EXPECT_EQ(MakeStepPlan(noisy).row_bits, 48);
}

// log2 P is 8 at logits up to 64, 4 at 4.
TEST(RowBits, AreTheFewestThatTheSigmoidTakes) {
  TrainingSettings settings = SettingsFor(40);
  settings.logit_bound = 64;
  EXPECT_EQ(MakeStepPlan(settings).row_bits, 40);
  settings.fraction_bits = 17;
  EXPECT_EQ(MakeStepPlan(settings).row_bits, 48) << "42 of the sigmoid";
  settings.row_fraction_bits = 15;
  EXPECT_EQ(MakeStepPlan(settings).row_bits, 40);
  settings.row_fraction_bits = 16;
  EXPECT_EQ(MakeStepPlan(settings).row_bits, 48);
}

TEST(RowBits, LeaveRoomForTheUpdatesShiftAndItsMantissa) {
  for (const auto shape : {RateShape::kConstant, RateShape::kCosine}) {
    TrainingSettings settings = SettingsFor(40);
    settings.schedule.shape = shape;
    settings.learning_rate = 1e-4;
    const StepPlan slow = MakeStepPlan(settings);
    EXPECT_EQ(slow.update_shift, 46);
    EXPECT_EQ(slow.row_bits, 48);
    settings.learning_rate = 5e-5;
    const StepPlan slower = MakeStepPlan(settings);
    EXPECT_EQ(slower.update_shift, 47);
    EXPECT_EQ(slower.row_bits, 64) << "of 56 bits 8 are left, which the mantissa has no room in";
  }
}

// Of losses that truncate logits: what steps can grow them to.
TEST(RowBits, AreMoreWhereLogitsHaveNoPeriod) {
  TrainingSettings settings = SettingsFor(40);
  settings.loss = Loss::kSquared;
  settings.logit_bound = 4;
  settings.learning_rate = 0.1;
  const StepPlan plan = MakeStepPlan(settings);
  // A step moves each of 7 weights by the rate's share of 40 records at most; a row with its bias is sqrt(2)
  // long.
  const double rate = std::ldexp(static_cast<double>(plan.step_size.mantissa), -plan.step_size.exponent);
  const double of_one_step = std::sqrt(2.0 * 7) * rate * 40 * plan.row_sensitivity;
  settings.steps = static_cast<int>(std::floor(64 / of_one_step));
  EXPECT_EQ(MakeStepPlan(settings).row_bits, 40) << "logits below 2^6, 2^38 with their 32 bits, and 2 more";
  ++settings.steps;
  EXPECT_EQ(MakeStepPlan(settings).row_bits, 48);
}

TEST(RowBits, AreAllOfThemWhereWholeRowsAreNeededOrFewerSaveNothing) {
  const auto bits_with = [](const std::function<void(TrainingSettings&)>& change) {
    TrainingSettings settings = SmallSettings();
    change(settings);
    return MakeStepPlan(settings).row_bits;
  };
  EXPECT_EQ(bits_with([](TrainingSettings&) {}), 40);
  EXPECT_EQ(bits_with([](TrainingSettings& s) { s.sampling = Sampling::kPublic; }), 40);
  EXPECT_EQ(bits_with([](TrainingSettings& s) {
              s.sampling = Sampling::kPublic;
              s.rows = {40, 0, 0};
              s.vertical = VerticalSettings{.features = {1, 2, 3}, .label_party = 1};
            }),
            64)
      << "its squared norms take words";
  EXPECT_EQ(bits_with([](TrainingSettings& s) { s.schedule.shape = RateShape::kLinear; }), 40);
  EXPECT_EQ(bits_with([](TrainingSettings& s) { s.hidden = {4}; }), 48);
  EXPECT_EQ(bits_with([](TrainingSettings& s) {
              s.hidden = {4};
              s.classes = 2;
            }),
            48);
  EXPECT_EQ(bits_with([](TrainingSettings& s) { s.clipping = Clipping::kPublished; }), 64);
  EXPECT_EQ(bits_with([](TrainingSettings& s) { s.class_weights = {1, 2, 1}; }), 40);
  EXPECT_EQ(bits_with([](TrainingSettings& s) { s.adaptive.emplace(); }), 40);
  EXPECT_EQ(bits_with([](TrainingSettings& s) {
              s.classes = 2;
              s.class_weights = {1, 0.5};
            }),
            40);
}

TrainingSettings AllRowsInEachStep() {
  TrainingSettings settings = SmallSettings();
  settings.sampling = Sampling::kFull;
  settings.expected_batch = 120;
  return settings;
}

TEST(RowBits, OfRowsThatAreSharedOnceAreFewerUnlessTheyComeInWords) {
  for (const TrainingSettings& once : {AllRowsInEachStep(), [] {
                                         TrainingSettings settings = SmallSettings();
                                         settings.sampling = Sampling::kPublic;
                                         return settings;
                                       }()}) {
    EXPECT_EQ(MakeStepPlan(once).row_bits, 40);
    TrainingSettings settings = once;
    settings.hidden = {4};
    EXPECT_LT(MakeStepPlan(settings).row_bits, 64);
    settings = once;
    settings.class_weights = {1, 0.5, 2};
    EXPECT_EQ(MakeStepPlan(settings).row_bits, 40);
  }
  TrainingSettings settings = AllRowsInEachStep();
  settings.deposited = true;
  settings.rows = {120, 0, 0};
  EXPECT_EQ(MakeStepPlan(settings).row_bits, 64) << "deposited in words";
}

// 603 weights take 36 bytes each in each step, and 360 clipped errors save 12; the rows save 72 kB, once.
TEST(RowBits, OfRowsThatAreSharedOnceAreFewerWhereTheySaveMoreThanMomentumTakesInAllSteps) {
  TrainingSettings settings = AllRowsInEachStep();
  settings.features = 200;
  settings.momentum = 0.5;
  settings.steps = 4;
  EXPECT_EQ(MakeStepPlan(settings).row_bits, 40);
  settings.steps = 5;
  EXPECT_EQ(MakeStepPlan(settings).row_bits, 64);
  settings.momentum = 0;
  EXPECT_EQ(MakeStepPlan(settings).row_bits, 40);
}

// 603 weights take 20 bytes each in each step, of which 360 clipped errors save 12.
TEST(RowBits, OfRowsThatAreSharedOnceAreFewerWhereTheySaveMoreThanAnAdaptiveClipTakesInAllSteps) {
  TrainingSettings settings = AllRowsInEachStep();
  settings.features = 200;
  settings.adaptive.emplace();
  settings.steps = 9;
  EXPECT_EQ(MakeStepPlan(settings).row_bits, 40);
  settings.steps = 10;
  EXPECT_EQ(MakeStepPlan(settings).row_bits, 64);
}

// 57 bytes a row, 36 of them of clipped errors, against 36 of each of 21 weights, or 20 where the sum is
// lifted.
TEST(RowBits, OfOwnersBatchesAreFewerWhereTheySaveMoreThanTheUpdateTakes) {
  const auto bits_of = [](std::int64_t rows, const std::function<void(TrainingSettings&)>& change) {
    TrainingSettings settings = SettingsFor(rows);
    settings.expected_batch = 5;
    change(settings);
    return MakeStepPlan(settings).row_bits;
  };
  const auto momentum = [](TrainingSettings& s) { s.momentum = 0.5; };
  EXPECT_EQ(bits_of(14, momentum), 40);
  EXPECT_EQ(bits_of(13, momentum), 64);
  const auto lifted = [](TrainingSettings& s) {
    s.momentum = 0.5;
    s.truncation = protocols::Rounding::kExact;
  };
  const auto adaptive = [](TrainingSettings& s) { s.adaptive.emplace(); };
  for (const std::function<void(TrainingSettings&)>& change :
       {std::function(lifted), std::function(adaptive)}) {
    EXPECT_EQ(bits_of(8, change), 40);
    EXPECT_EQ(bits_of(7, change), 64);
  }
}

/// What all parties are declared to send in all steps, rows included, which are shared modulo 2^bits.
std::uint64_t BytesWith(StepPlan plan, int bits) {
  plan.row_bits = bits;
  plan.update_bits = bits;
  plan.activation.row_bits = bits;
  const std::uint64_t rows =
      protocols::InputAheadCost(RecordShapes(plan, BatchLimits(plan.settings)), NarrowRows(plan))
          .bytes_of_all();
  const auto steps = static_cast<std::uint64_t>(plan.settings.steps);
  const bool once = plan.settings.sampling == Sampling::kFull;
  return (once ? 1 : steps) * rows + steps * DpSgdStepCost(plan, plan.batch_rows).bytes_of_all();
}

TEST(RowBits, AreFewerJustWhereAllStepsTogetherAreDeclaredToSendLess) {
  int narrow = 0;
  int whole = 0;
  for (const Sampling sampling : {Sampling::kOwnerPoisson, Sampling::kFull}) {
    for (const bool adaptive : {false, true}) {
      for (const auto rounding : {protocols::Rounding::kStochastic, protocols::Rounding::kExact}) {
        for (std::int64_t rows = 6; rows < 60; rows += 2) {
          TrainingSettings settings = SettingsFor(rows);
          settings.sampling = sampling;
          settings.expected_batch = sampling == Sampling::kFull ? static_cast<double>(rows) : 5;
          settings.features = 40;
          settings.steps = 3;
          settings.momentum = 0.5;
          settings.truncation = rounding;
          if (adaptive) settings.adaptive.emplace();
          const StepPlan plan = MakeStepPlan(settings);
          const bool saves = BytesWith(plan, 40) < BytesWith(plan, 64);
          EXPECT_EQ(plan.row_bits, saves ? 40 : 64) << rows << ' ' << static_cast<int>(sampling) << adaptive;
          ++(saves ? narrow : whole);
        }
      }
    }
  }
  EXPECT_GT(narrow, 20);
  EXPECT_GT(whole, 20);
}

// As of owners' batches: 127 clips of 1/2 and their rounding fit, 128 do not.
TEST(RowBits, OfFullBatchesAreTheFewestThatTheSumOfAllRowsTakes) {
  TrainingSettings settings = AllRowsInEachStep();
  settings.rows = {100, 20, 7};
  settings.expected_batch = 127;
  EXPECT_EQ(MakeStepPlan(settings).row_bits, 40);
  settings.rows = {100, 20, 8};
  settings.expected_batch = 128;
  EXPECT_EQ(MakeStepPlan(settings).row_bits, 48);
}

// A batch has no more rows than its height, whatever the data set has.
TEST(RowBits, OfPublicBatchesAreTheFewestThatTheirHeightTakes) {
  TrainingSettings settings = SmallSettings();
  settings.sampling = Sampling::kPublic;
  settings.rows = {20'000, 20'000, 20'000};
  std::set<int> found;
  for (double batch = 60; batch <= 140; batch += 4) {
    settings.expected_batch = batch;
    const StepPlan plan = MakeStepPlan(settings);
    found.insert(plan.row_bits);
    EXPECT_EQ(plan.row_bits, plan.batch_rows <= 127 ? 40 : 48) << plan.batch_rows;
  }
  EXPECT_EQ(found.size(), 2U);
}

// Calibration may find more noise than is looked ahead for only where next to nothing is left to the steps:
// there whole rows, which have room for it.
TEST(RowBits, OfRowsThatAreSharedOnceRefuseNoJob) {
  TrainingSettings settings = AllRowsInEachStep();
  settings.balance_sigma = 5;
  EXPECT_EQ(MakeStepPlan(settings).row_bits, 40) << "a sigma that is given";
  settings.sigma.reset();
  settings.target_epsilon = 5;
  EXPECT_EQ(MakeStepPlan(settings).row_bits, 64);
  EXPECT_NO_THROW((void)MakePlan(settings));
  settings.balance_sigma.reset();
  EXPECT_EQ(MakeStepPlan(settings).row_bits, 48);
  settings.target_epsilon = 0.05;
  EXPECT_EQ(SigmaAbove(settings), kLargestSigma);
  EXPECT_EQ(MakeStepPlan(settings).row_bits, 64);
  EXPECT_NO_THROW((void)MakePlan(settings));
}

/// Settings whose sigma is what balanced classes leave of epsilon.
TrainingSettings CalibratedBehindBalancedClasses() {
  TrainingSettings settings = AllRowsInEachStep();
  settings.balance_sigma = 20;
  settings.sigma.reset();
  settings.target_epsilon = 5;
  return settings;
}

TEST(RowBits, OfRowsThatAreSharedOnceAreFewerOnceTheirSigmaIsCalibrated) {
  const TrainingSettings settings = CalibratedBehindBalancedClasses();
  EXPECT_TRUE(NeedsCalibratedSigma(settings));
  EXPECT_EQ(MakeStepPlan(settings).row_bits, 64);
  const TrainingSettings calibrated = WithCalibratedSigma(settings);
  EXPECT_EQ(calibrated.calibrated_sigma, MakePlan(settings).sigma);
  EXPECT_EQ(MakeStepPlan(calibrated).row_bits, 48);
  EXPECT_EQ(WithCalibratedSigma(calibrated).calibrated_sigma, calibrated.calibrated_sigma);
  // Nothing else is another one than by a calibration of its own.
  const PrivacyPlan with = MakePlan(calibrated);
  const PrivacyPlan without = MakePlan(settings);
  EXPECT_EQ(with.sigma, without.sigma);
  EXPECT_EQ(with.sensitivity, without.sensitivity);
  EXPECT_EQ(with.epsilon_insider, without.epsilon_insider);
  EXPECT_EQ(with.epsilon_outsider, without.epsilon_outsider);
  const StepPlan narrow = MakeStepPlan(calibrated);
  const StepPlan whole = MakeStepPlan(settings);
  EXPECT_EQ(NoiseVariance(narrow, with.sigma), NoiseVariance(whole, with.sigma));
  EXPECT_EQ(narrow.step_size.mantissa, whole.step_size.mantissa);
  EXPECT_EQ(narrow.update_shift, whole.update_shift);
  EXPECT_NE(Fingerprint(narrow, with.sigma), Fingerprint(whole, with.sigma));
  EXPECT_EQ(Fingerprint(WithWholeRows(narrow), with.sigma), Fingerprint(whole, with.sigma));
}

TEST(ChooseSigma, TakesASigmaThatIsCalibratedAndSearchesForNoOther) {
  TrainingSettings settings = WithCalibratedSigma(CalibratedBehindBalancedClasses());
  const double smallest = settings.calibrated_sigma.value();
  settings.calibrated_sigma = 2 * smallest;  // which no search would find
  EXPECT_EQ(MakePlan(settings).sigma, 2 * smallest);
  settings.calibrated_sigma = smallest / 2;
  EXPECT_THROW((void)MakePlan(settings), ContractError) << "which would break the promise";
}

TEST(WithCalibratedSigma, LeavesJobsWhoseRowsDoNotWaitForIt) {
  const auto is_calibrated = [](const std::function<void(TrainingSettings&)>& change) {
    TrainingSettings settings = CalibratedBehindBalancedClasses();
    change(settings);
    return WithCalibratedSigma(settings).calibrated_sigma.has_value();
  };
  EXPECT_TRUE(is_calibrated([](TrainingSettings&) {}));
  EXPECT_FALSE(is_calibrated([](TrainingSettings& s) { s.sigma = 2; }));
  EXPECT_FALSE(is_calibrated([](TrainingSettings& s) { s.balance_sigma.reset(); }));
  EXPECT_FALSE(is_calibrated([](TrainingSettings& s) { s.clipping = Clipping::kPublished; }));
  EXPECT_FALSE(is_calibrated([](TrainingSettings& s) {
    s.sampling = Sampling::kOwnerPoisson;
    s.expected_batch = 30;
  }));
  EXPECT_TRUE(is_calibrated([](TrainingSettings& s) {
    s.balance_sigma.reset();
    s.target_epsilon = 0.05;
  }));
}

// 120 clips of 1/2 leave 120 deviations of half a clip's noise less than 4: 2^6 of 2^38 with their 32 bits.
TEST(RowBits, OfACalibratedSigmaAreForThatAndNoMore) {
  TrainingSettings settings = CalibratedBehindBalancedClasses();
  settings.calibrated_sigma = 0.06;
  EXPECT_EQ(MakeStepPlan(settings).row_bits, 40);
  EXPECT_THROW(CheckRowBits(MakeStepPlan(settings), 0.07), ConfigError);
  settings.calibrated_sigma = 0.07;
  EXPECT_EQ(MakeStepPlan(settings).row_bits, 48);
  settings.calibrated_sigma = 1e6;
  EXPECT_EQ(MakeStepPlan(settings).row_bits, 64) << "whole rows have room for what narrow ones have not";
}

// The velocity's two roundings, each times 2^20, are 2^62 where one is 2^61.
TEST(RowBits, OfAKnownSigmaAreAllWhereTheVelocityHasRoomForOneRoundingOnly) {
  TrainingSettings calibrated = CalibratedBehindBalancedClasses();
  calibrated.features = 10'000;
  calibrated.fraction_bits = 12;
  calibrated.steps = 1;
  calibrated.momentum = 1 - std::ldexp(1.0, -20);
  TrainingSettings given = calibrated;
  calibrated.calibrated_sigma = 1;
  given.sigma = 1;
  for (TrainingSettings settings : {calibrated, given}) {
    int refused = 0;
    for (settings.learning_rate = 1; settings.learning_rate > 1e-6; settings.learning_rate /= 2) {
      const StepPlan plan = MakeStepPlan(settings);
      StepPlan narrow = plan;
      narrow.row_bits = 48;
      narrow.update_bits = 48;
      const auto refuses = [&](const StepPlan& of) {
        return !ErrorText<ConfigError>([&] { CheckUpdateRange(of, 1); }).empty();
      };
      if (!refuses(plan) && refuses(narrow)) {
        ++refused;
        EXPECT_EQ(plan.row_bits, 64) << settings.learning_rate;
      }
      EXPECT_FALSE(HasNarrowRows(plan) && refuses(plan)) << settings.learning_rate;
    }
    EXPECT_GT(refused, 0);
  }
}

/// What goes up the first layer, not what an upper layer or the sigmoid takes; and the gradient by itself.
TEST(RowBits, OfANetworkAreThoseOfItsFirstLayersProducts) {
  TrainingSettings settings = SettingsFor(40);
  settings.hidden = {4};
  settings.learning_rate = 0.1;
  settings.activation_bound = 1024;
  const StepPlan plan = MakeStepPlan(settings);
  // As of a logit that has no period, but that weights begin at up to 2.
  const double rate = std::ldexp(static_cast<double>(plan.step_size.mantissa), -plan.step_size.exponent);
  const double of_one_step = rate * 40 * plan.row_sensitivity;
  const double beginning = kLargestInitialWeight;
  settings.steps = static_cast<int>(std::floor((64 / std::sqrt(2.0 * 7) - beginning) / of_one_step));
  EXPECT_EQ(MakeStepPlan(settings).row_bits, 40);
  ++settings.steps;
  const StepPlan wider = MakeStepPlan(settings);
  EXPECT_EQ(wider.row_bits, 48);
  EXPECT_EQ(wider.update_bits, 40) << "one step's sum is no larger";
  EXPECT_EQ(wider.activation.row_bits, 64);
  EXPECT_NE(Fingerprint(wider, 1), Fingerprint(MakeStepPlan(SettingsFor(40)), 1));
  StepPlan other = wider;
  other.update_bits = 48;
  EXPECT_NE(Fingerprint(wider, 1), Fingerprint(other, 1));
}

/// Behind one column a row has a word for its mask bit, which openings save even of the shortest rows.
TEST(RowBits, OfANetworkOfOneColumnComeWithAWordARow) {
  TrainingSettings settings = SettingsFor(40);
  settings.hidden = {4};
  settings.learning_rate = 0.1;
  for (const int features : {1, 2}) {
    settings.features = features;
    settings.classes = 3;
    EXPECT_EQ(MakeStepPlan(settings).row_bits, 40);
    EXPECT_FALSE(MaskBitsBeside(MakeStepPlan(settings)));
    settings.classes = 2;
    EXPECT_EQ(MakeStepPlan(settings).row_bits, 40);
    EXPECT_TRUE(MaskBitsBeside(MakeStepPlan(settings)));
  }
  settings = SettingsFor(40 * 21);
  settings.features = 2;
  settings.classes = 2;
  EXPECT_FALSE(MaskBitsBeside(MakeStepPlan(settings))) << "nothing goes up";
}

// Sums below 2^6, 2^38 with their 32 bits, and 2 more.
TEST(UpdateBits, AreTheFewestThatTheSumOfANetworkTakes) {
  const auto bits_for = [](std::int64_t rows) {
    TrainingSettings settings = SettingsFor(rows);
    settings.hidden = {4};
    settings.learning_rate = 0.1;
    return MakeStepPlan(settings).update_bits;
  };
  TrainingSettings settings = SettingsFor(40);
  settings.hidden = {4};
  const auto most = static_cast<std::int64_t>(std::floor(64 / MakeStepPlan(settings).row_sensitivity));
  EXPECT_EQ(bits_for(most), 40);
  EXPECT_EQ(bits_for(most + 1), 48);
}

// The sum is on the lattice of whole rows, and rows have as many bits less as they have fraction bits less.
TEST(RowBits, OfANetworkAreFewerWithFewerFractionBits) {
  TrainingSettings settings = SettingsFor(127);
  settings.hidden = {4};
  settings.learning_rate = 0.1;
  const StepPlan whole = MakeStepPlan(settings);
  EXPECT_EQ(whole.row_bits, 40);
  settings.row_fraction_bits = 8;
  const StepPlan plan = MakeStepPlan(settings);
  EXPECT_EQ(plan.row_bits, 32);
  EXPECT_EQ(plan.update_bits, 40) << "of which 8 are the fraction bits that rows have not";
  EXPECT_EQ(plan.gradient_bits, whole.gradient_bits);
  EXPECT_EQ(plan.lattice_sensitivity, whole.lattice_sensitivity);
  EXPECT_EQ(plan.update_shift, whole.update_shift);
  EXPECT_NE(Fingerprint(plan, 1), Fingerprint(whole, 1));
  settings.row_fraction_bits = 9;
  EXPECT_EQ(MakeStepPlan(settings).row_bits, 40) << "one bit of the sum too many";
  settings.row_fraction_bits = 4;
  EXPECT_LE(MakeStepPlan(settings).row_norm_bits, 8) << "squares on their lattice have no more";
  // 32 bits would do of the products, and of the 36 of the sum less 6, but not of all 40 that are opened of
  // it.
  settings = SettingsFor(7);
  settings.expected_batch = 5;
  settings.hidden = {4};
  settings.learning_rate = 0.1;
  settings.row_fraction_bits = 10;
  EXPECT_EQ(MakeStepPlan(settings).update_bits, 40);
  EXPECT_EQ(MakeStepPlan(settings).row_bits, 40);
}

// Noise that rows have room for, and the sum's opening has not.
TEST(UpdateBits, AreRefusedToNoiseThatIsLargerThanTheyWereChosenFor) {
  TrainingSettings settings = SettingsFor(40);
  settings.hidden = {4};
  settings.steps = 10'000;
  const StepPlan plan = MakeStepPlan(settings);
  EXPECT_GT(plan.row_bits, plan.update_bits);
  EXPECT_NO_THROW(CheckRowBits(plan, 0.01));
  EXPECT_EQ(RowBits(plan, 2), plan.row_bits);
  EXPECT_THROW(CheckRowBits(plan, 2), ConfigError);
}

/// Six words a weight, where a row saves 153 bytes, 2 x 12 of them of each clipped error, and a weight's
/// opening 12.
TEST(RowBits, OfANetworkWithMomentumAreFewerOnlyWhereThatSavesBytes) {
  TrainingSettings settings = SettingsFor(127);
  settings.expected_batch = 10;
  settings.hidden = {4};  // 7 x 4 + 5 x 3 weights: 2,064 bytes of momentum
  settings.learning_rate = 0.1;
  EXPECT_EQ(MakeStepPlan(settings).row_bits, 40);
  settings.momentum = 0.5;
  EXPECT_EQ(MakeStepPlan(settings).row_bits, 40) << "127 x 153 bytes";
  settings.rows = {10, 0, 0};
  settings.max_batch_per_owner = 10;
  EXPECT_EQ(MakeStepPlan(settings).row_bits, 64) << "10 x 153 bytes of 1,548";
  settings.rows = {11, 0, 0};
  settings.max_batch_per_owner = 11;
  EXPECT_EQ(MakeStepPlan(settings).row_bits, 40) << "11 x 153 bytes";
}

// 120 records and as many deviations of twice sigma_b, in units of 2^-16, are below 2^39, or are not.
TEST(RowBits, LeaveRoomForTheCountOfAnAdaptiveClip) {
  TrainingSettings settings = SmallSettings();
  settings.adaptive = AdaptiveClip{.count_sigma = 34'952};
  EXPECT_EQ(MakeStepPlan(settings).row_bits, 40);
  settings.adaptive->count_sigma = 34'953;
  EXPECT_EQ(MakeStepPlan(settings).row_bits, 48);
}

// Neither the shift nor the mantissa takes room there: its sum is lifted first.
TEST(RowBits, AskNothingOfALearningRateThatFollowsAnAdaptiveClip) {
  TrainingSettings settings = SettingsFor(128);
  settings.adaptive.emplace();
  const StepPlan plan = MakeStepPlan(settings);
  EXPECT_EQ(plan.row_bits, 48);
  EXPECT_GE(plan.step_size.mantissa, std::uint64_t{1} << (64 - 48));
  settings.learning_rate = 1e-5;
  const StepPlan slow = MakeStepPlan(settings);
  EXPECT_EQ(slow.row_bits, 48);
  EXPECT_GT(slow.update_shift, 46);
}

TEST(RowBits, AreRefusedToNoiseThatIsLargerThanTheyWereChosenFor) {
  const StepPlan plan = MakeStepPlan(MnistSettings());
  EXPECT_EQ(plan.row_bits, 48);
  EXPECT_NO_THROW(CheckRowBits(plan, 10));
  const auto refusal = ErrorText<ConfigError>([&] { CheckRowBits(plan, 1000); });
  EXPECT_THAT(refusal, testing::HasSubstr("no room in rows of 48 bits, which are for a sigma of"));
  EXPECT_THAT(refusal, testing::HasSubstr("give privacy.sigma itself"));
  TrainingSettings settings = MnistSettings();  // whose activations take more than the sum has
  settings.hidden = {16};
  const StepPlan network = MakeStepPlan(settings);
  EXPECT_EQ(network.row_bits, 56);
  EXPECT_EQ(network.update_bits, 48);
  EXPECT_NO_THROW(CheckRowBits(network, 10));
  EXPECT_THAT(ErrorText<ConfigError>([&] { CheckRowBits(network, 1000); }),
              testing::HasSubstr("no room in gradient sums of 48 bits, which are for a sigma of"));
}

/// Whatever calibration finds of it.
TEST(RowBits, HaveRoomForTheNoiseOfEachAccountant) {
  TrainingSettings settings = MnistSettings();
  settings.sigma.reset();
  for (const auto accountant :
       {dp::AccountantKind::kRdp, dp::AccountantKind::kPld, dp::AccountantKind::kPea}) {
    for (const double epsilon : {0.3, 1.0, 3.0}) {
      for (const int bits : {9, 16}) {
        settings.accountant = accountant;
        settings.target_epsilon = epsilon;
        settings.row_fraction_bits = bits;
        EXPECT_NO_THROW((void)MakePlan(settings)) << epsilon << ' ' << bits;
      }
    }
  }
}

/// An insider knows whose rows a public batch has; in full ones are all.
TEST(RowBits, OfRowsThatAreSharedOnceHaveRoomForTheNoiseOfEachAccountant) {
  int narrow = 0;
  int adaptive = 0;
  for (const Sampling sampling : {Sampling::kPublic, Sampling::kFull}) {
    for (const auto accountant :
         {dp::AccountantKind::kRdp, dp::AccountantKind::kPld, dp::AccountantKind::kPea}) {
      for (const auto against : {Adversary::kInsider, Adversary::kOutsider}) {
        for (const double epsilon : {0.05, 0.3, 1.0, 3.0, 10.0}) {
          TrainingSettings settings = SmallSettings();
          settings.rows = {1'000, 1'000, 1'000};
          settings.sampling = sampling;
          settings.expected_batch = sampling == Sampling::kFull ? 3'000 : 100;
          settings.steps = 50;
          settings.sigma.reset();
          settings.accountant = accountant;
          settings.against = against;
          settings.target_epsilon = epsilon;
          const StepPlan plan = MakeStepPlan(settings);
          narrow += HasNarrowRows(plan) ? 1 : 0;
          const double sigma = ChooseSigma(plan, MaxParticipation(3'000, SamplingRate(settings), 50), {});
          if (!HasNarrowRows(plan)) continue;
          EXPECT_LT(sigma, SigmaAbove(settings)) << epsilon << ' ' << static_cast<int>(accountant);
          if (sampling == Sampling::kPublic) continue;
          settings.adaptive = AdaptiveClip{.count_sigma = 1e4};
          const StepPlan moving = MakeStepPlan(settings);
          adaptive += HasNarrowRows(moving) ? 1 : 0;
          EXPECT_NO_THROW((void)ChooseSigma(moving, 0, {})) << epsilon << ' ' << static_cast<int>(accountant);
        }
      }
    }
  }
  EXPECT_GT(narrow, 30);
  EXPECT_GT(adaptive, 10);
}

// The mantissa is that of a sum of all rows, so that sigma may exceed what it is chosen at, with rows in
// words (for the momentum) and without.
TEST(ChooseStepSize, LeavesPublicBatchesRoomForTheNoiseThatIsCalibrated) {
  TrainingSettings settings = MnistSettings();
  settings.sampling = Sampling::kPublic;
  settings.expected_batch = 256;
  settings.steps = 500;
  settings.against = Adversary::kInsider;
  settings.accountant = dp::AccountantKind::kRdp;
  settings.learning_rate = 4;
  settings.row_norm = 4;
  settings.clip = 8;
  settings.momentum = 0.9;
  for (const double epsilon : {0.2, 0.1}) {
    settings.target_epsilon = epsilon;
    EXPECT_NO_THROW((void)MakePlan(settings)) << epsilon;
  }
  settings.momentum = 0;
  settings.fraction_bits = 18;
  settings.clip = 4;
  EXPECT_NO_THROW((void)MakePlan(settings));
}

/// An outsider does not know which rows a batch has, so that its noise is that of fresh ones.
TEST(RowBits, OfPublicBatchesAgainstOutsidersAreForNoiseThatSamplingAmplifies) {
  TrainingSettings settings = MnistSettings();
  settings.sampling = Sampling::kPublic;
  settings.target_epsilon = 2;
  const double of_outsider = SigmaAbove(settings);
  EXPECT_LT(MakeStepPlan(settings).row_bits, 64);
  settings.against = Adversary::kInsider;
  EXPECT_GT(SigmaAbove(settings), 2 * of_outsider);
}

TEST(RowBits, OfFewerFractionBitsAreFewerAndCoarsenNothingButRowsAndTheSum) {
  TrainingSettings settings = MnistSettings();
  const StepPlan whole = MakeStepPlan(settings);
  settings.row_fraction_bits = 9;
  const StepPlan plan = MakeStepPlan(settings);
  EXPECT_EQ(plan.row_bits, 40);
  EXPECT_EQ(plan.gradient_bits, 25);
  EXPECT_EQ(plan.sensitivity, whole.sensitivity);
  EXPECT_EQ(plan.lattice_sensitivity,
            static_cast<std::uint64_t>(std::ceil(std::ldexp(plan.row_sensitivity, 25))));
  EXPECT_EQ(plan.update_shift, whole.update_shift - 7);
  EXPECT_NE(Fingerprint(plan, 1), Fingerprint(whole, 1));
  settings.row_fraction_bits = 4;
  EXPECT_EQ(MakeStepPlan(settings).row_norm_bits, 8) << "squares on their lattice have no more";
  StepPlan wider = plan;
  wider.row_bits = 48;
  EXPECT_NE(Fingerprint(wider, 1), Fingerprint(plan, 1));
}

// MNIST as configs/mnist.toml has it but for the bits: 8 + 16 + 8 of the sigmoid, and of the gradient 2700
// clips of 2 with their rounding and 120 deviations of noise, below 2^13, at 17 bits and with 2 more.
TEST(RowBits, OfFewerBitsOfErrorsAreFewerAndTheirRoundingIsCharged) {
  TrainingSettings settings = MnistSettings();
  settings.learning_rate = 10;
  settings.row_norm = 4;
  settings.clip = 2;
  settings.row_fraction_bits = 8;
  const StepPlan whole = MakeStepPlan(settings);
  EXPECT_EQ(whole.row_bits, 40);
  settings.error_fraction_bits = 9;
  const StepPlan plan = MakeStepPlan(settings);
  EXPECT_EQ(plan.row_bits, 32);
  EXPECT_EQ(plan.gradient_bits, 17);
  EXPECT_EQ(plan.update_shift, whole.update_shift - 7);
  EXPECT_NEAR(plan.sensitivity, 2 + std::sqrt(17.0) * std::sqrt(10.0) / 512, 1e-9);
  EXPECT_GE(static_cast<double>(plan.lattice_sensitivity), std::ldexp(plan.sensitivity, 17));
  EXPECT_NE(Fingerprint(plan, 1), Fingerprint(whole, 1));
  settings.error_fraction_bits = 10;
  EXPECT_EQ(MakeStepPlan(settings).row_bits, 40) << "one bit of the gradient too many";
  settings.error_fraction_bits = 8;
  settings.row_fraction_bits = 9;
  EXPECT_EQ(MakeStepPlan(settings).row_bits, 40) << "one bit of the sigmoid too many";
  settings.error_fraction_bits = 16;
  EXPECT_EQ(MakeStepPlan(settings).lattice_sensitivity, MakeStepPlan([&] {
                                                          settings.error_fraction_bits.reset();
                                                          return settings;
                                                        }())
                                                            .lattice_sensitivity);
}

TEST(Fingerprint, DiffersWhereOneStepsRateDoes) {
  TrainingSettings settings = MnistSettings();
  settings.steps = 300;
  settings.schedule = {.shape = RateShape::kStep, .decay_every = 299, .decay_factor = 0.5};
  const StepPlan last = MakeStepPlan(settings);
  settings.schedule.decay_every = 300;
  const StepPlan never = MakeStepPlan(settings);
  EXPECT_EQ(MantissaAt(last, 298), MantissaAt(never, 298));
  EXPECT_NE(MantissaAt(last, 299), MantissaAt(never, 299));
  EXPECT_NE(Fingerprint(last, 1), Fingerprint(never, 1));
}

/// The plan with one number of the activation's tables changed.
StepPlan WithOtherTable(StepPlan plan, protocols::SigmoidSeries& series) {
  switch (plan.activation.options.loss) {
    case Loss::kOneVsRest:
      series = *plan.activation.series;
      ++series.coefficients.back();
      plan.activation.series = &series;
      return plan;
    case Loss::kSquared:
    case Loss::kHuber:
      ++plan.activation.clamp.coefficients[1][1];
      return plan;
    case Loss::kSoftmax:
      ++plan.activation.softmax->normalising.tables.back().back();
      return plan;
    case Loss::kPoisson:
      ++plan.activation.exponential->pieces.coefficients.back()[0];
      return plan;
  }
  return plan;
}

// Two builds that differ in a table would go on with what is no sharing of anything.
TEST(Fingerprint, DiffersWhereTheFormOrOneNumberOfATableDoes) {
  for (const Loss loss : {Loss::kOneVsRest, Loss::kSquared, Loss::kSoftmax, Loss::kPoisson}) {
    TrainingSettings settings = loss == Loss::kPoisson ? SmallPoissonSettings() : SmallSettings();
    settings.loss = loss;
    settings.logit_bound = 4;
    settings.clipping = Clipping::kExamples;  // no other table
    const StepPlan plan = MakeStepPlan(settings);
    const std::string text = Fingerprint(plan, 1);
    EXPECT_EQ(Fingerprint(MakeStepPlan(settings), 1), text);
    EXPECT_NE(Fingerprint(MakeStepPlan(settings, protocols::Form::kLatency), 1), text);
    protocols::SigmoidSeries series;
    EXPECT_NE(Fingerprint(WithOtherTable(plan, series), 1), text) << static_cast<int>(loss);
    if (loss != Loss::kSoftmax) continue;
    StepPlan other = plan;
    --other.activation.softmax->exponential.pieces.thresholds.front();
    EXPECT_NE(Fingerprint(other, 1), text);
  }
}

// Below the clip the threshold bounds what a record adds, and so the noise.
TEST(MakeStepPlan, TakesHubersThresholdForTheBoundOfErrors) {
  const auto plan_of = [](double threshold) { return MakeStepPlan(SmallHuberSettings(threshold)); };
  const double row = std::sqrt(2.0);  // row_norm 1 and the bias
  const double rounding = row * std::ldexp(1.0, -16);
  EXPECT_NEAR(plan_of(0.25).sensitivity, row * 0.25 + rounding, 1e-9);
  EXPECT_NEAR(plan_of(1).sensitivity, 0.5 + rounding, 1e-9) << "the clip";
  EXPECT_NE(Fingerprint(plan_of(0.25), 1), Fingerprint(plan_of(0.26), 1));
}

TEST(MakeStepPlan, RefusesPublishedClippingWhoseFactorCanLeaveTheRing) {
  TrainingSettings settings = SmallSettings();
  settings.clipping = Clipping::kPublished;
  settings.fraction_bits = 24;
  settings.clip = 4;
  EXPECT_THROW((void)MakeStepPlan(settings), ConfigError);
  settings.clip = 2;
  EXPECT_NO_THROW((void)MakeStepPlan(settings));
}

}  // namespace
}  // namespace trefoil::ml
