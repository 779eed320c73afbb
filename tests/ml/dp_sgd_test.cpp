#include "ml/dp_sgd.h"

#include <cmath>
#include <string>

#include "protocols/multiply.h"
#include "tests/reference/plain_dp_sgd.h"
#include "tests/support/ml_test.h"

namespace trefoil::ml {
namespace {

using mpc::Index;
using mpc::RingMatrix;
using mpc::Word;
using namespace testing_support;  // NOLINT(google-build-using-namespace): test helpers only

struct Case {
  std::string name;
  int classes;
  Clipping clipping;
  Loss loss;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

TrainingSettings SettingsOf(const Case& c) {
  TrainingSettings settings = SmallSettings();
  settings.classes = c.classes;
  settings.clipping = c.clipping;
  settings.loss = c.loss;
  if (c.loss == Loss::kSquared) settings.logit_bound = 4;
  return settings;
}

class StepTest : public testing::TestWithParam<Case> {};

RingMatrix NoNoise(const StepPlan& plan) {
  return RingMatrix::Zero(plan.settings.features + 1, plan.columns);
}

TEST_P(StepTest, CostsWhatItDeclares) {
  const StepPlan plan = MakeStepPlan(SettingsOf(GetParam()));
  const OwnRecords records = MakeRecords(plan.settings, 1, 20);
  const Outcome outcome = RunOn(
      Seed{1},
      [&](mpc::Context& party) {
        return std::pair{DealBatch(party, plan, records, 24), DealWeights(party, plan, NoNoise(plan))};
      },
      [&](mpc::Context& party, const auto& in) {
        return DpSgdStep(party, plan, in.first, in.second, NoNoise(plan)).ring();
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
        return std::pair{ToBatch(plan, padding), DealWeights(party, plan, weights)};
      },
      [&](mpc::Context& party, const auto& in) {
        return DpSgdStep(party, plan, in.first, in.second, NoNoise(plan)).ring();
      });
  EXPECT_TRUE((outcome.value == weights).all());
}

INSTANTIATE_TEST_SUITE_P(Forms, StepTest,
                         testing::Values(Case{"multi_class", 3, Clipping::kFactorised, Loss::kOneVsRest},
                                         Case{"binary", 2, Clipping::kFactorised, Loss::kOneVsRest},
                                         Case{"squared_loss", 3, Clipping::kFactorised, Loss::kSquared},
                                         Case{"examples", 3, Clipping::kExamples, Loss::kOneVsRest},
                                         Case{"published", 3, Clipping::kPublished, Loss::kOneVsRest}),
                         [](const auto& info) { return info.param.name; });

/// A hundred steps on the same batches, secure and plain, noise off. The secure clip factor is up to 5 %
/// below the true one, so the plain side takes it from its own table only where nothing is clipped: the clip
/// is above every gradient here.
TEST(DpSgdStep, AgreesWithPlainDoublePrecisionAfterAHundredStepsUnclipped) {
  TrainingSettings settings = SmallSettings();
  settings.clip = 4;
  const StepPlan plan = MakeStepPlan(settings);
  const OwnRecords records = MakeRecords(settings, 5, 30);
  const Outcome outcome = RunOn(
      Seed{4},
      [&](mpc::Context& party) {
        return std::pair{DealBatch(party, plan, records, 36), DealWeights(party, plan, NoNoise(plan))};
      },
      [&](mpc::Context& party, const auto& in) {
        mpc::FixedShare weights = in.second;
        for (int step = 0; step < 100; ++step)
          weights = DpSgdStep(party, plan, in.first, weights, NoNoise(plan));
        return weights.ring();
      });
  const double rate = std::ldexp(static_cast<double>(plan.step_size.mantissa), -plan.step_size.exponent);
  reference::PlainDpSgd plain{.weights = Eigen::MatrixXd::Zero(settings.features + 1, plan.columns),
                              .clip = settings.clip,
                              .learning_rate = rate,
                              .expected_batch = 1};
  const Eigen::MatrixXd x = ScaledRows(settings, records);
  for (int step = 0; step < 100; ++step) {
    plain.Step(x, Targets(settings, records.y), Eigen::MatrixXd::Zero(settings.features + 1, plan.columns));
  }
  // The series is off by at most 0.0032 a prediction and the problem is convex: the weights stay within what
  // that error can move them, far below their own size; fixed-point rounding alone would be 1e-4.
  const Eigen::MatrixXd secure = mpc::Decode(outcome.value, settings.fraction_bits);
  EXPECT_GT(plain.weights.cwiseAbs().maxCoeff(), 3.0);
  EXPECT_LE((secure - plain.weights).cwiseAbs().maxCoeff(), 0.05);
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
          return std::pair{DealBatch(party, plan, records, 30), DealWeights(party, plan, NoNoise(plan))};
        },
        [&](mpc::Context& party, const auto& in) {
          return DpSgdStep(party, plan, in.first, in.second, NoNoise(plan)).ring();
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
