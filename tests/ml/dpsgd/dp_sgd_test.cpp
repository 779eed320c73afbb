#include "ml/dpsgd/dp_sgd.h"

#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "base/error.h"
#include "protocols/arithmetic/multiply.h"
#include "tests/reference/plain_dp_sgd.h"
#include "tests/reference/plain_integer_step.h"
#include "tests/support/ml_test.h"

namespace trefoil::ml {
namespace {

using mpc::Index;
using mpc::RingMatrix;
using mpc::Word;
using protocols::Form;
using protocols::Rounding;
using namespace testing_support;  // NOLINT(google-build-using-namespace): test helpers only

constexpr Rounding kExact = Rounding::kExact;

struct SgdCase {
  std::string name;
  int classes;
  Clipping clipping;
  Loss loss;
  Rounding truncation = Rounding::kStochastic;
  double momentum = 0;
  std::vector<double> class_weights{};
  std::optional<double> max_record_weight{};
};

void PrintTo(const SgdCase& c, std::ostream* out) { *out << c.name; }

TrainingSettings SettingsOf(const SgdCase& c) {
  TrainingSettings settings = c.loss == Loss::kHuber     ? SmallHuberSettings(0.2)
                              : c.loss == Loss::kPoisson ? SmallPoissonSettings()
                                                         : SmallSettings();
  settings.classes = c.classes;
  settings.clipping = c.clipping;
  settings.loss = c.loss;
  settings.truncation = c.truncation;
  settings.momentum = c.momentum;
  settings.class_weights = c.class_weights;
  settings.max_record_weight = c.max_record_weight;
  if (c.loss == Loss::kSquared) settings.logit_bound = 4;
  return settings;
}

class StepTest : public testing::TestWithParam<SgdCase> {};

TEST_P(StepTest, CostsWhatItDeclares) {
  const StepPlan plan = MakeStepPlan(SettingsOf(GetParam()));
  const OwnRecords records = MakeRecords(plan.settings, 1, 20);
  const Outcome outcome = RunOn(
      Seed{1},
      [&](mpc::Context& party) {
        return std::pair{DealBatch(party, plan, records, 24), DealStart(party, plan, NoNoise(plan))};
      },
      [&](mpc::Context& party, const auto& in) {
        return DpSgdStep(party, plan, in.first, in.second, NoNoise(plan)).weights.ring();
      });
  EXPECT_EQ(outcome.cost, Figures(DpSgdStepCost(plan, 24)));
}

TEST_P(StepTest, LeavesTheWeightsExactlyWhenTheBatchIsPadding) {
  const StepPlan plan = MakeStepPlan(SettingsOf(GetParam()));
  const RingMatrix weights = RandomSigned(2, plan.settings.features + 1, plan.columns, 17);
  const Outcome outcome = RunOn(
      Seed{2},
      [&](mpc::Context& party) {
        const mpc::ArithShare padding = InsecureDeal(party, RingMatrix::Zero(16, EncodedColumns(plan)));
        return std::pair{ToBatch(plan, padding), DealStart(party, plan, weights)};
      },
      [&](mpc::Context& party, const auto& in) {
        return DpSgdStep(party, plan, in.first, in.second, NoNoise(plan)).weights.ring();
      });
  EXPECT_TRUE((outcome.value == weights).all());
}

INSTANTIATE_TEST_SUITE_P(
    Forms, StepTest,
    testing::Values(SgdCase{"multi_class", 3, Clipping::kFactorised, Loss::kOneVsRest},
                    SgdCase{"binary", 2, Clipping::kFactorised, Loss::kOneVsRest},
                    SgdCase{"squared_loss", 3, Clipping::kFactorised, Loss::kSquared},
                    SgdCase{"huber", 2, Clipping::kFactorised, Loss::kHuber},
                    SgdCase{"huber_examples", 2, Clipping::kExamples, Loss::kHuber, {}, 0.9},
                    SgdCase{"exact_huber_published", 2, Clipping::kPublished, Loss::kHuber, kExact},
                    SgdCase{"poisson", 2, Clipping::kFactorised, Loss::kPoisson},
                    SgdCase{"exact_poisson_examples", 2, Clipping::kExamples, Loss::kPoisson, kExact},
                    SgdCase{"softmax", 3, Clipping::kFactorised, Loss::kSoftmax},
                    SgdCase{"softmax_binary", 2, Clipping::kFactorised, Loss::kSoftmax},
                    SgdCase{"softmax_examples", 3, Clipping::kExamples, Loss::kSoftmax},
                    SgdCase{"softmax_published", 3, Clipping::kPublished, Loss::kSoftmax},
                    SgdCase{"examples", 3, Clipping::kExamples, Loss::kOneVsRest},
                    SgdCase{"published", 3, Clipping::kPublished, Loss::kOneVsRest},
                    SgdCase{"momentum", 3, Clipping::kFactorised, Loss::kOneVsRest, {}, 0.9},
                    SgdCase{"exact_momentum", 3, Clipping::kFactorised, Loss::kSquared, kExact, 0.9},
                    SgdCase{"weighted", 3, Clipping::kFactorised, Loss::kOneVsRest, {}, 0, {1, 0.5, 2}},
                    SgdCase{"weighted_binary", 2, Clipping::kFactorised, Loss::kOneVsRest, {}, 0, {0.1, 1}},
                    SgdCase{"weighted_exact", 2, Clipping::kPublished, Loss::kSquared, kExact, 0, {0.1, 1}},
                    SgdCase{"own_weights", 2, Clipping::kFactorised, Loss::kOneVsRest, {}, 0, {}, 3},
                    SgdCase{"both_weights", 3, Clipping::kPublished, Loss::kSoftmax, {}, 0, {1, 0.5, 2}, 0.5},
                    SgdCase{"exact_own_weights", 2, Clipping::kExamples, Loss::kHuber, kExact, 0, {}, 2},
                    SgdCase{"exact", 3, Clipping::kFactorised, Loss::kOneVsRest, kExact},
                    SgdCase{"exact_squared_loss", 3, Clipping::kFactorised, Loss::kSquared, kExact},
                    SgdCase{"exact_examples", 3, Clipping::kExamples, Loss::kOneVsRest, kExact},
                    SgdCase{"exact_published", 3, Clipping::kPublished, Loss::kOneVsRest, kExact}),
    [](const auto& info) { return info.param.name; });

/// A hundred steps on the same batches, secure and plain, noise off. The secure clip factor is up to 5 %
/// below the true one, so the plain side takes it from its own table only where nothing is clipped: the clip
/// is above every gradient here.
class AgreementTest : public testing::Test {
 protected:
  static constexpr int kSteps = 100;

  /// The largest distance of a weight from the plain one, which is `largest` at most.
  struct Distance {
    double largest = 0;
    double weight = 0;
  };

  [[nodiscard]] static Distance AfterAllSteps(const TrainingSettings& settings) {
    const StepPlan plan = MakeStepPlan(settings);
    const OwnRecords records = MakeRecords(settings, 5, 30);
    const Outcome outcome = RunOn(
        Seed{4},
        [&](mpc::Context& party) {
          return std::pair{DealBatch(party, plan, records, 36), DealStart(party, plan, NoNoise(plan))};
        },
        [&](mpc::Context& party, const auto& in) {
          TrainingState state = in.second;
          for (int step = 0; step < kSteps; ++step)
            state = DpSgdStep(party, plan, in.first, state, NoNoise(plan));
          return state.weights.ring();
        });
    const double rate = std::ldexp(static_cast<double>(plan.step_size.mantissa), -plan.step_size.exponent);
    reference::PlainDpSgd plain{.weights = Eigen::MatrixXd::Zero(settings.features + 1, plan.columns),
                                .clip = settings.clip,
                                .expected_batch = 1,
                                .momentum = settings.momentum,
                                .softmax = settings.loss == Loss::kSoftmax,
                                .squared = settings.loss == Loss::kHuber,
                                .poisson = settings.loss == Loss::kPoisson,
                                .huber = settings.huber_threshold,
                                .class_weights = settings.class_weights,
                                .record_weights = records.weights};
    const Eigen::MatrixXd x = ScaledRows(settings, records);
    for (int step = 0; step < kSteps; ++step) {
      const double done = static_cast<double>(step) / kSteps;
      plain.learning_rate = settings.schedule.shape == RateShape::kLinear ? rate * (1 - done) : rate;
      plain.Step(x, Targets(settings, records.y), Eigen::MatrixXd::Zero(settings.features + 1, plan.columns));
    }
    const Eigen::MatrixXd secure = mpc::Decode(outcome.value, settings.fraction_bits);
    return {.largest = (secure - plain.weights).cwiseAbs().maxCoeff(),
            .weight = plain.weights.cwiseAbs().maxCoeff()};
  }
};

// The series is off by at most 0.0032 a prediction and the problem is convex: the weights stay within what
// that error can move them, far below their own size; fixed-point rounding alone would be 1e-4.
TEST_F(AgreementTest, WithPlainDoublePrecisionUnclipped) {
  TrainingSettings settings = SmallSettings();
  settings.clip = 4;
  const Distance distance = AfterAllSteps(settings);
  EXPECT_GT(distance.weight, 3.0);
  EXPECT_LE(distance.largest, 0.05);
}

// Softmax itself is good to 7 units; rounding alone remains, below 1e-4 a step and contracted by the next.
TEST_F(AgreementTest, WithPlainDoublePrecisionForSoftmax) {
  TrainingSettings settings = SmallSettings();
  settings.clip = 4;
  settings.loss = Loss::kSoftmax;
  for (const double bound : {9, 64}) {
    settings.logit_bound = bound;
    const Distance distance = AfterAllSteps(settings);
    EXPECT_GT(distance.weight, 2.0);
    EXPECT_LE(distance.largest, 0.005) << bound;
  }
}

TEST_F(AgreementTest, WithPlainDoublePrecisionWithMomentumAndASchedule) {
  TrainingSettings settings = SmallSettings();
  settings.clip = 4;
  settings.momentum = 0.8;
  settings.schedule = {.shape = RateShape::kLinear};
  settings.steps = kSteps;
  const Distance distance = AfterAllSteps(settings);
  EXPECT_GT(distance.weight, 5.0);
  EXPECT_LE(distance.largest, 0.1);
}

// No series, so that rounding alone remains: of two truncations of each error and one of the update, below 3
// units of 2^-16 a step, and contracted by the next. Most errors are beyond the threshold at first, and some
// at last.
TEST_F(AgreementTest, WithPlainDoublePrecisionForHubersLoss) {
  for (const double threshold : {0.05, 0.2}) {
    TrainingSettings settings = SmallHuberSettings(threshold);
    settings.clip = 4;
    const Distance distance = AfterAllSteps(settings);
    EXPECT_GT(distance.weight, 0.1);
    EXPECT_LE(distance.largest, 0.005) << threshold;
  }
}

// The exponential is good to 2^-17; rounding alone remains, as of Huber's loss.
TEST_F(AgreementTest, WithPlainDoublePrecisionForPoissonsLoss) {
  TrainingSettings settings = SmallPoissonSettings();
  settings.clip = 4;
  settings.learning_rate = 3;
  const Distance distance = AfterAllSteps(settings);
  EXPECT_GT(distance.weight, 0.5);
  EXPECT_LE(distance.largest, 0.005);
}

// As without weights, the series' error times the largest of them.
TEST_F(AgreementTest, WithPlainDoublePrecisionWithClassWeights) {
  for (const int classes : {2, 3}) {
    TrainingSettings settings = SmallSettings();
    settings.clip = 4;
    settings.classes = classes;
    settings.class_weights = {0.2, 1};
    if (classes == 3) settings.class_weights.push_back(2);
    const Distance distance = AfterAllSteps(settings);
    EXPECT_GT(distance.weight, 1.0);
    EXPECT_LE(distance.largest, 0.1) << classes;
  }
}

// Weights of 0 to 2, of which the mean is 1: as without weights, the series' error times the largest.
TEST_F(AgreementTest, WithPlainDoublePrecisionWithRecordsOwnWeights) {
  for (const int classes : {2, 3}) {
    TrainingSettings settings = SmallSettings();
    settings.clip = 4;
    settings.classes = classes;
    settings.max_record_weight = 2;
    const Distance distance = AfterAllSteps(settings);
    EXPECT_GT(distance.weight, 1.0);
    EXPECT_LE(distance.largest, 0.1) << classes;
  }
}

/// The published form, which shares nothing with the factorised one but the predictions, is its oracle.
TEST(DpSgdStep, FactorisedAgreesWithPublishedClippingWithinTheClipTablesDeficit) {
  TrainingSettings settings = SmallSettings();
  settings.clip = 0.4;
  const OwnRecords records = MakeRecords(settings, 6, 30);
  const auto weights_with = [&](Clipping clipping) {
    settings.clipping = clipping;
    const StepPlan plan = MakeStepPlan(settings);
    const Outcome outcome = RunOn(
        Seed{5},
        [&](mpc::Context& party) {
          return std::pair{DealBatch(party, plan, records, 30), DealStart(party, plan, NoNoise(plan))};
        },
        [&](mpc::Context& party, const auto& in) {
          return DpSgdStep(party, plan, in.first, in.second, NoNoise(plan)).weights.ring();
        });
    return mpc::Decode(outcome.value, settings.fraction_bits);
  };
  const Eigen::MatrixXd factorised = weights_with(Clipping::kFactorised);
  const Eigen::MatrixXd published = weights_with(Clipping::kPublished);
  // One step from zero weights: each example's clipped gradient is at most 5 % (0.9 % in the published form)
  // short.
  const double update = settings.learning_rate / settings.expected_batch * 30 * settings.clip;
  EXPECT_LE((factorised - published).norm(), 0.05 * update);
  EXPECT_GT(published.norm(), 0.2 * update);
}

/// A factorised step with exact truncation, in a form of comparison.
class ExactStepTest : public testing::TestWithParam<Form> {
 protected:
  static constexpr Index kRows = 40;

  [[nodiscard]] static StepPlan PlanFor(Loss loss) {
    TrainingSettings settings = SettingsOf(
        {.name = {}, .classes = 3, .clipping = Clipping::kFactorised, .loss = loss, .truncation = kExact});
    settings.clip = 0.3;  // clips some examples and not others
    return MakeStepPlan(settings, GetParam());
  }

  /// Of party `self`; three different ones.
  [[nodiscard]] static RingMatrix NoiseOf(const StepPlan& plan, int self) {
    return RandomSigned(static_cast<std::uint64_t>(40 + self), plan.settings.features + 1, plan.columns,
                        plan.gradient_bits + 1);
  }

  [[nodiscard]] static RingMatrix NoiseOfAll(const StepPlan& plan) {
    return NoiseOf(plan, 0) + NoiseOf(plan, 1) + NoiseOf(plan, 2);
  }

  /// Some steps, bit for bit. Pre: squared loss or Huber's.
  static void CompareWithIntegers(const StepPlan& plan);
};

void ExactStepTest::CompareWithIntegers(const StepPlan& plan) {
  const OwnRecords records = MakeRecords(plan.settings, 8, kRows - 4);
  constexpr int kSteps = 5;
  const Outcome outcome = RunOn(
      Seed{8},
      [&](mpc::Context& party) {
        return std::pair{DealStepBatch(party, plan, records, kRows), DealStart(party, plan, NoNoise(plan))};
      },
      [&](mpc::Context& party, const auto& in) {
        TrainingState state = in.second;
        for (int step = 0; step < kSteps; ++step)
          state = DpSgdStep(party, plan, in.first, state, NoiseOf(plan, party.self()));
        return state.weights.ring();
      });
  const reference::PlainIntegerStep plain(plan, EncodeRecords(plan, records, AllRows(records), kRows));
  RingMatrix weights = NoNoise(plan);
  RingMatrix velocity = weights;
  for (int step = 0; step < kSteps; ++step) {
    velocity = plain.Velocity(velocity, plain.Errors(weights), NoiseOfAll(plan), step);
    weights -= velocity;
  }
  EXPECT_TRUE((outcome.value == weights).all());
}

TEST_P(ExactStepTest, IsPlainIntegerArithmeticForSquaredLossOverManySteps) {
  for (const int classes : {2, 3}) {
    TrainingSettings settings = PlanFor(Loss::kSquared).settings;
    settings.classes = classes;
    CompareWithIntegers(MakeStepPlan(settings, GetParam()));
  }
}

// With the lower threshold the clip shortens nothing, with the other it does.
TEST_P(ExactStepTest, IsPlainIntegerArithmeticForHubersLossOverManySteps) {
  for (const double threshold : {0.05, 0.35}) {
    TrainingSettings settings = SmallHuberSettings(threshold);
    settings.truncation = kExact;
    settings.clip = 0.3;
    CompareWithIntegers(MakeStepPlan(settings, GetParam()));
  }
}

TEST_P(ExactStepTest, IsPlainIntegerArithmeticWithClassWeights) {
  for (const int classes : {2, 3}) {
    TrainingSettings settings = PlanFor(Loss::kSquared).settings;
    settings.classes = classes;
    settings.class_weights = {0.3, 1};
    if (classes == 3) settings.class_weights.push_back(0.01);
    CompareWithIntegers(MakeStepPlan(settings, GetParam()));
  }
}

TEST_P(ExactStepTest, IsPlainIntegerArithmeticWithRecordsOwnWeights) {
  for (const int classes : {2, 3}) {
    TrainingSettings settings = PlanFor(Loss::kSquared).settings;
    settings.classes = classes;
    settings.max_record_weight = 1.3;
    CompareWithIntegers(MakeStepPlan(settings, GetParam()));
    settings.class_weights.assign(static_cast<std::size_t>(classes), 0.7);
    CompareWithIntegers(MakeStepPlan(settings, GetParam()));
  }
}

TEST_P(ExactStepTest, IsPlainIntegerArithmeticWithMomentumAndASchedule) {
  TrainingSettings settings = PlanFor(Loss::kSquared).settings;
  settings.momentum = 0.9;
  settings.schedule = {.shape = RateShape::kCosine, .final_rate = 0.1};
  const StepPlan narrow = MakeStepPlan(settings, GetParam());
  EXPECT_TRUE(HasNarrowRows(narrow));
  CompareWithIntegers(narrow);
  CompareWithIntegers(WithWholeRows(narrow));
}

TEST_P(ExactStepTest, IsPlainIntegerArithmeticWithRowsOfFewerBits) {
  for (const int row_bits : {4, 9}) {
    TrainingSettings settings = PlanFor(Loss::kSquared).settings;
    settings.row_fraction_bits = row_bits;
    for (const double momentum : {0.0, 0.9}) {
      settings.momentum = momentum;
      const StepPlan plan = MakeStepPlan(settings, GetParam());
      EXPECT_TRUE(HasNarrowRows(plan));
      CompareWithIntegers(plan);
    }
    settings.class_weights = {0.3, 1, 0.5};
    CompareWithIntegers(MakeStepPlan(settings, GetParam()));
    settings.classes = 2;
    settings.class_weights = {0.3, 1};
    const StepPlan weighed = MakeStepPlan(settings, GetParam());
    EXPECT_TRUE(HasNarrowRows(weighed));
    CompareWithIntegers(weighed);
  }
}

TEST_P(ExactStepTest, IsPlainIntegerArithmeticWithClippedErrorsOfFewerBits) {
  for (const int error_bits : {6, 11}) {
    TrainingSettings settings = PlanFor(Loss::kSquared).settings;
    settings.error_fraction_bits = error_bits;
    CompareWithIntegers(MakeStepPlan(settings, GetParam()));
    settings.row_fraction_bits = 8;
    settings.max_record_weight = 1.3;
    settings.momentum = 0.9;
    const StepPlan plan = MakeStepPlan(settings, GetParam());
    EXPECT_TRUE(HasNarrowRows(plan));
    CompareWithIntegers(plan);
  }
}

// Of rows that are shared once for all steps.
TEST_P(ExactStepTest, IsPlainIntegerArithmeticWithFewerBitsOfPublicAndFullBatches) {
  for (const auto sampling : {Sampling::kPublic, Sampling::kFull}) {
    TrainingSettings settings = PlanFor(Loss::kSquared).settings;
    settings.sampling = sampling;
    if (sampling == Sampling::kFull) settings.expected_batch = 120;
    settings.row_fraction_bits = 8;
    const StepPlan rows = MakeStepPlan(settings, GetParam());
    EXPECT_TRUE(HasNarrowRows(rows));
    CompareWithIntegers(rows);
    settings.error_fraction_bits = 9;
    settings.max_record_weight = 1.3;
    const StepPlan both = MakeStepPlan(settings, GetParam());
    EXPECT_TRUE(HasNarrowRows(both));
    CompareWithIntegers(both);
    settings.momentum = 0.9;
    CompareWithIntegers(MakeStepPlan(settings, GetParam()));
  }
}

TEST(WholeRows, AreRefusedOfABatchOfNarrowOnes) {
  Batch batch;
  batch.x = mpc::FixedShare(mpc::ArithShare::Zero(2, 3), 16);
  EXPECT_EQ(WholeRows(batch).cols(), 3);
  EXPECT_THROW((void)WholeRows(KnownModulo(std::move(batch), 40)), ContractError);
}

TEST(MaskBits, AreTheRowsLastColumnOfWholeRowsAndOfNarrowOnes) {
  const RingMatrix x = RandomWords(3, 50, 3);
  for (const bool narrow : {false, true}) {
    const Outcome outcome = RunOn(
        Seed{3},
        [&](mpc::Context& party) {
          Batch batch;
          batch.x = mpc::FixedShare(InsecureDeal(party, x), 16);
          return narrow ? KnownModulo(std::move(batch), 40) : batch;
        },
        [](mpc::Context&, const Batch& batch) { return MaskBits(batch); });
    const int bits = narrow ? 40 : 64;
    EXPECT_TRUE((Reduced(outcome.value, bits) == Reduced(x.col(2), bits)).all());
  }
}

/// The plan as it is for whole rows.
StepPlan Whole(StepPlan plan) {
  plan.row_bits = 64;
  plan.update_bits = 64;
  plan.activation.row_bits = 64;
  return plan;
}

// Nothing is rounded anew: with fixed coins every bit is the same.
TEST_P(ExactStepTest, GivesOfNarrowRowsWhatItGivesOfWholeOnes) {
  StepPlan halves = PlanFor(Loss::kOneVsRest);
  halves.settings.row_fraction_bits = 8;
  halves.settings.error_fraction_bits = 10;
  halves = MakeStepPlan(halves.settings, GetParam());
  EXPECT_EQ(halves.row_bits, 32);
  StepPlan falling = PlanFor(Loss::kOneVsRest);
  falling.settings.schedule.shape = RateShape::kLinear;
  falling = MakeStepPlan(falling.settings, GetParam());
  EXPECT_NE(MantissaAt(falling, 0), MantissaAt(falling, 3));
  StepPlan moving = PlanFor(Loss::kSquared);
  moving.settings.momentum = 0.9;
  moving = MakeStepPlan(moving.settings, GetParam());
  EXPECT_TRUE(LiftsUpdate(moving));
  StepPlan weighed = PlanFor(Loss::kOneVsRest);
  weighed.settings.classes = 2;
  weighed.settings.class_weights = {0.3, 1};
  weighed = MakeStepPlan(weighed.settings, GetParam());
  for (const StepPlan& narrow :
       {PlanFor(Loss::kOneVsRest), PlanFor(Loss::kSquared), halves, falling, moving, weighed}) {
    ASSERT_TRUE(HasNarrowRows(narrow));
    const OwnRecords records = MakeRecords(narrow.settings, 8, kRows - 4);
    const auto weights_of = [&](const StepPlan& plan) {
      return RunOn(
                 Seed{8},
                 [&](mpc::Context& party) {
                   return std::pair{DealStepBatch(party, plan, records, kRows),
                                    DealStart(party, plan, NoNoise(plan))};
                 },
                 [&](mpc::Context& party, const auto& in) {
                   TrainingState state = in.second;
                   for (int step = 0; step < 4; ++step)
                     state = DpSgdStep(party, plan, in.first, state, NoiseOf(plan, party.self()));
                   return state.weights.ring();
                 })
          .value;
    };
    EXPECT_TRUE((weights_of(narrow) == weights_of(Whole(narrow))).all())
        << narrow.row_bits << " bits, loss " << static_cast<int>(narrow.settings.loss);
  }
}

/// The errors of a batch of which each number is known modulo 2^bits alone.
RingMatrix ErrorsOf(const StepPlan& plan, const OwnRecords& records, const RingMatrix& weights, int bits) {
  return RunOn(
             Seed{9},
             [&](mpc::Context& party) {
               return std::pair{KnownModulo(DealBatch(party, plan, records, records.x.rows()), bits),
                                InsecureDeal(party, weights)};
             },
             [&](mpc::Context& party, const auto& in) {
               const mpc::FixedShare start(in.second, plan.settings.fraction_bits);
               const auto logits = BatchLogits(party, in.first, start);
               return PredictionErrors(party, plan, in.first, logits).ring();
             })
      .value;
}

/// The sigmoid needs log2 P + s_x + f bits of a logit, and not one less.
TEST_P(ExactStepTest, NeedsAsManyBitsOfRowsAsTheSigmoidTakes) {
  const StepPlan plan = PlanFor(Loss::kOneVsRest);
  const OwnRecords records = MakeRecords(plan.settings, 8, kRows - 4);
  const RingMatrix weights = RandomSigned(10, plan.settings.features + 1, plan.columns, 19);
  const auto errors_of = [&](int bits) { return ErrorsOf(plan, records, weights, bits); };
  const RingMatrix whole = errors_of(63);
  const int needed = plan.activation.series->log2_period + 2 * plan.settings.fraction_bits;
  ASSERT_LE(needed, plan.row_bits);
  EXPECT_TRUE((errors_of(needed) == whole).all());
  EXPECT_FALSE((errors_of(needed - 1) == whole).all());
}

/// A truncation needs two bits more than |Z| has, and not one less.
TEST_P(ExactStepTest, NeedsAsManyBitsOfRowsAsATruncatedLogitTakes) {
  const StepPlan plan = PlanFor(Loss::kSquared);
  const OwnRecords records = MakeRecords(plan.settings, 8, kRows - 4);
  constexpr int kBits =
      36;  // of |Z|, the largest multiple of a mask bit's 2^16 below that: of one row as of all
  RingMatrix weights = NoNoise(plan);
  weights.bottomRows(1).setConstant((Word{1} << (kBits - plan.settings.fraction_bits)) - 1);
  const auto errors_of = [&](int bits) {
    StepPlan narrow = plan;
    narrow.activation.row_bits = bits;
    return ErrorsOf(narrow, records, weights, bits);
  };
  const RingMatrix whole = errors_of(64);
  EXPECT_TRUE((errors_of(kBits + 2) == whole).all());
  EXPECT_FALSE((errors_of(kBits + 1) == whole).all());
}

/// The sigmoid's series is summed under a mask, so its values are taken from the run; all after it is exact.
TEST_P(ExactStepTest, IsPlainIntegerArithmeticAfterTheSigmoid) {
  const StepPlan plan = PlanFor(Loss::kOneVsRest);
  const OwnRecords records = MakeRecords(plan.settings, 9, kRows - 4);
  const RingMatrix before = RandomSigned(10, plan.settings.features + 1, plan.columns, 17);
  const Outcome outcome = RunOn(
      Seed{9},
      [&](mpc::Context& party) {
        return std::pair{DealBatch(party, plan, records, kRows), DealStart(party, plan, before)};
      },
      [&](mpc::Context& party, const auto& in) {
        const auto& [batch, state] = in;
        const auto logits = protocols::LocalMatrixProduct(party, batch.x.ring(), state.weights.ring());
        const mpc::FixedShare errors = Predict(party, plan.activation, logits) - batch.y;
        const auto sum = SumGradients(party, batch, ClipPerExample(party, plan, batch, errors));
        const TrainingState after =
            ApplyUpdate(party, plan, state, AddNoise(sum, NoiseOf(plan, party.self())));
        return Stacked(errors.ring(), after.weights.ring());
      });
  const reference::PlainIntegerStep plain(plan, EncodeRecords(plan, records, AllRows(records), kRows));
  const RingMatrix after =
      before - plain.Velocity(NoNoise(plan), outcome.value.topRows(kRows), NoiseOfAll(plan));
  EXPECT_TRUE((outcome.value.bottomRows(after.rows()) == after).all());
}

// But for the clip factor's openings, which in latency form are of whole squared norms here.
TEST_P(ExactStepTest, CostsTheSameRoundsAndOnlineBytesAsAStochasticOne) {
  const StepPlan exact = PlanFor(Loss::kOneVsRest);
  TrainingSettings settings = exact.settings;
  settings.truncation = Rounding::kStochastic;
  const mpc::Cost declared = DpSgdStepCost(exact, kRows);
  const StepPlan other = MakeStepPlan(settings, GetParam());
  const mpc::Cost stochastic = DpSgdStepCost(other, kRows);
  EXPECT_EQ(declared.rounds(), stochastic.rounds());
  const auto total = [](const std::array<std::uint64_t, 3>& bytes) { return bytes[0] + bytes[1] + bytes[2]; };
  const auto opened = [](const StepPlan& plan) {
    return GetParam() == Form::kBulk ? 0 : 4 * mpc::PackedBytes(plan.clip.pieces.width, kRows);
  };
  EXPECT_EQ(total(declared.bytes_sent()) - opened(exact), total(stochastic.bytes_sent()) - opened(other));
  EXPECT_GT(declared.bytes_of_all(), stochastic.bytes_of_all());
}

INSTANTIATE_TEST_SUITE_P(Forms, ExactStepTest, testing::Values(Form::kBulk, Form::kLatency));

TEST(DpSgdStepCost, IsTheSameWithMomentumBehindWholeRowsAndWithCoinsAsManyRoundsBehindNarrowOnes) {
  for (const bool narrow : {false, true}) {
    const auto plan_of = [&](const TrainingSettings& settings) {
      return narrow ? MakeStepPlan(settings) : WithWholeRows(MakeStepPlan(settings));
    };
    TrainingSettings settings = SmallSettings();
    const mpc::Cost without = DpSgdStepCost(plan_of(settings), 24);
    settings.momentum = 0.9;
    const StepPlan plan = plan_of(settings);
    EXPECT_EQ(HasNarrowRows(plan), narrow);
    const mpc::Cost with = DpSgdStepCost(plan, 24);
    EXPECT_EQ(with.rounds(), without.rounds());
    // The velocity's own truncation: six words a weight.
    const auto more =
        HasNarrowRows(plan) ? 48 * static_cast<std::uint64_t>(ShapeOfWeights(plan).weights()) : 0;
    EXPECT_EQ(with.bytes_of_all(), without.bytes_of_all() + more);
  }
}

/// A velocity goes on by itself: after a step on padding it is the momentum times what it was.
TEST(DpSgdStep, KeepsTheVelocityTimesTheMomentumOnAPaddingBatch) {
  TrainingSettings settings = SmallSettings();
  settings.momentum = 0.75;
  const StepPlan plan = MakeStepPlan(settings);
  const RingMatrix velocity = 4 * RandomSigned(3, settings.features + 1, plan.columns, 17);
  const RingMatrix weights = RandomSigned(4, settings.features + 1, plan.columns, 17);
  const Outcome outcome = RunOn(
      Seed{7},
      [&](mpc::Context& party) {
        TrainingState state = DealStart(party, plan, weights);
        state.velocity = {InsecureDeal(party, velocity), settings.fraction_bits};
        const mpc::ArithShare padding = InsecureDeal(party, RingMatrix::Zero(8, EncodedColumns(plan)));
        return std::pair{ToBatch(plan, padding), state};
      },
      [&](mpc::Context& party, const auto& in) {
        const TrainingState after = DpSgdStep(party, plan, in.first, in.second, NoNoise(plan));
        return Stacked(after.velocity.ring(), after.weights.ring());
      });
  // 3/4 of a multiple of 4 has no fraction, so no coin.
  const RingMatrix three_quarters = 3 * RandomSigned(3, settings.features + 1, plan.columns, 17);
  EXPECT_TRUE((outcome.value.topRows(velocity.rows()) == three_quarters).all());
  EXPECT_TRUE((outcome.value.bottomRows(velocity.rows()) == weights - three_quarters).all());
}

TEST(FasterPlan, ChoosesByTheLinkUnlessTheSettingsSay) {
  TrainingSettings settings = SmallSettings();
  settings.comparison.reset();
  const protocols::Link slow{.message_seconds = 0.02, .bytes_per_second = 1e7};
  const protocols::Link fast{.message_seconds = 1e-7, .bytes_per_second = 1e6};
  EXPECT_EQ(FasterPlan(settings, 64, slow).clip.form, Form::kLatency);
  EXPECT_EQ(FasterPlan(settings, 64, fast).clip.form, Form::kBulk);
  settings.comparison = Form::kBulk;
  EXPECT_EQ(FasterPlan(settings, 64, slow).clip.form, Form::kBulk);
  settings.comparison = Form::kLatency;
  EXPECT_EQ(FasterPlan(settings, 64, fast).clip.form, Form::kLatency);
}

TEST(FasterPlan, ChoosesForTheClampOfSquaredLossAlsoWhereNothingIsClipped) {
  TrainingSettings settings = SmallSettings();
  settings.comparison.reset();
  settings.clipping = Clipping::kExamples;
  const protocols::Link slow{.message_seconds = 0.02, .bytes_per_second = 1e7};
  const protocols::Link fast{.message_seconds = 1e-7, .bytes_per_second = 1e6};
  EXPECT_EQ(FasterPlan(settings, 64, slow).activation.options.form, Form::kBulk) << "nothing to compare";
  settings.loss = Loss::kSquared;
  EXPECT_EQ(FasterPlan(settings, 64, slow).activation.options.form, Form::kLatency);
  EXPECT_EQ(FasterPlan(settings, 64, fast).activation.options.form, Form::kBulk);
}

/// The budget of linear models on slow links, whatever their loss.
TEST(DpSgdStepCost, IsAtMost13RoundsInLatencyForm) {
  TrainingSettings settings = SmallSettings();
  EXPECT_EQ(DpSgdStepCost(MakeStepPlan(settings, Form::kLatency), 64).rounds(), 10);
  settings.loss = Loss::kSquared;
  EXPECT_EQ(DpSgdStepCost(MakeStepPlan(settings, Form::kLatency), 64).rounds(), 13);
  EXPECT_EQ(DpSgdStepCost(MakeStepPlan(settings, Form::kBulk), 64).rounds(), 30);
}

TEST(AddNoise, SumsTheThreePartiesSamplesOnTheLattice) {
  const Outcome outcome = RunOn(
      Seed{6}, [](mpc::Context& party) { return InsecureDeal(party, RingMatrix::Constant(2, 2, 1000)); },
      [](mpc::Context& party, const mpc::ArithShare& sum) {
        const RingMatrix own = RingMatrix::Constant(2, 2, static_cast<Word>(-7 * (party.self() + 1)));
        return protocols::Reshare(party, AddNoise(ToAdditive(sum), own));
      });
  EXPECT_TRUE((outcome.value == Word{1000 - 7 - 14 - 21}).all());
}

}  // namespace
}  // namespace trefoil::ml
