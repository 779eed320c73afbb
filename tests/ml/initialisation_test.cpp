#include "ml/initialisation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "dp/closeness.h"
#include "protocols/multiply.h"
#include "protocols/truncate.h"
#include "tests/support/ml_test.h"

namespace trefoil::ml {
namespace {

using mpc::ArithShare;
using mpc::Index;
using mpc::RingMatrix;
using mpc::Word;
using namespace testing_support;  // NOLINT(google-build-using-namespace): test helpers only

TrainingSettings WithInitialisation(InitialisationMethod method) {
  TrainingSettings settings = SmallSettings();
  settings.initialisation = InitialisationSettings{
      .method = method,
      .local =
          {.steps = 30, .expected_batch = 30, .learning_rate = 4, .clip = 2, .sigma = 0.5, .delta = 1e-5},
      .selection = Selection::kNoisy,
      .selection_rows = 20,
      .selection_sigma = 1};
  return settings;
}

/// Models at 16 bits from a fixed seed.
std::vector<RingMatrix> MakeModels(Index rows, Index cols, std::size_t count) {
  std::vector<RingMatrix> models;
  for (std::size_t k = 0; k < count; ++k) models.push_back(RandomSigned(20 + k, rows, cols, 18));
  return models;
}

std::vector<ArithShare> Deal(mpc::Context& party, const std::vector<RingMatrix>& models) {
  std::vector<ArithShare> shares;
  for (const RingMatrix& model : models) shares.push_back(InsecureDeal(party, model));
  return shares;
}

TEST(AverageModels, IsWithinAUnitOfTheMean) {
  std::vector<RingMatrix> models = MakeModels(7, 3, 3);
  const auto edge = static_cast<Word>(std::int64_t{1024} << 16);
  for (auto& model : models) {
    model(0, 0) = edge;
    model(0, 1) = Word{0} - edge;
    model(0, 2) = 0;
  }
  const Outcome outcome = RunOn(
      Seed{1}, [&](mpc::Context& party) { return Deal(party, models); },
      [](mpc::Context& party, const std::vector<ArithShare>& shares) {
        return AverageModels(party, {shares[0], shares[1], shares[2]});
      });
  EXPECT_EQ(outcome.cost, Figures(protocols::TruncateCost(21)));
  for (Index k = 0; k < 21; ++k) {
    double mean = 0;
    for (const auto& model : models) mean += static_cast<double>(mpc::Signed(model.data()[k])) / 3;
    const double slack = 1 + std::ldexp(std::abs(mean), -23);
    ASSERT_LE(std::abs(static_cast<double>(mpc::Signed(outcome.value.data()[k])) - mean), slack) << k;
  }
}

/// Rows that a model classifies correctly, in integers.
std::int64_t PlainCount(const StepPlan& plan, const RingMatrix& encoded, const RingMatrix& model) {
  const Index inputs = plan.settings.features + 1;
  std::int64_t correct = 0;
  for (Index row = 0; row < encoded.rows(); ++row) {
    if (encoded(row, inputs - 1) == 0) continue;
    std::vector<std::int64_t> logits(plan.columns == 1 ? 1 : 0, 0);
    int label = plan.columns == 1 && encoded(row, inputs) != 0 ? 1 : 0;
    for (Index column = 0; column < plan.columns; ++column) {
      Word logit = 0;
      for (Index k = 0; k < inputs; ++k) logit += encoded(row, k) * model(k, column);
      logits.push_back(mpc::Signed(logit));
      if (plan.columns > 1 && encoded(row, inputs + column) != 0) label = static_cast<int>(column);
    }
    correct += std::max_element(logits.begin(), logits.end()) - logits.begin() == label;
  }
  return correct;
}

TEST(CorrectCounts, AreExactAtTheDeclaredCost) {
  for (const int classes : {2, 3, 5}) {
    TrainingSettings settings = WithInitialisation(InitialisationMethod::kAccuracy);
    settings.classes = classes;
    const StepPlan plan = MakeStepPlan(settings);
    const InitialisationPlan initialisation = MakeInitialisationPlan(settings);
    const OwnRecords records = MakeRecords(settings, 3, 37);
    const RingMatrix encoded = EncodeRecords(plan, records, AllRows(records), 45);  // 8 rows of padding
    auto models = MakeModels(7, plan.columns, 3);
    models.push_back(RingMatrix::Zero(7, plan.columns));  // all logits equal: class 0
    struct Inputs {
      Batch batch;
      std::vector<ArithShare> models;
    };
    const Outcome outcome = RunOn(
        Seed{2},
        [&](mpc::Context& party) {
          return Inputs{ToBatch(plan, InsecureDeal(party, encoded)), Deal(party, models)};
        },
        [&](mpc::Context& party, const Inputs& inputs) {
          return protocols::Reshare(
              party, CorrectCounts(party, inputs.batch, inputs.models, initialisation.logit_width));
        });
    EXPECT_EQ(outcome.cost, Figures(Then(CorrectCountsCost(45, plan.columns, 4, initialisation.logit_width),
                                         protocols::ReshareCost(4))));
    for (std::size_t k = 0; k < models.size(); ++k) {
      const std::int64_t expected = PlainCount(plan, encoded, models[k]);
      EXPECT_EQ(mpc::Signed(outcome.value(static_cast<Index>(k), 0)), expected << 16) << k;
      EXPECT_GT(expected, 0);
      EXPECT_LT(expected, 37);
    }
  }
}

TEST(ChooseModel, TakesTheFirstOfTheLargestCountsAtTheDeclaredCost) {
  const auto models = MakeModels(7, 3, 4);
  const std::vector<std::pair<std::vector<std::int64_t>, std::size_t>> cases{
      {{5, 4, 3, 2}, 0}, {{5, 5, 5, 5}, 0}, {{-3, -2, -1, -2}, 2}, {{1, 9, 8, 9}, 1}, {{0, 0, 0, 1}, 3}};
  for (const auto& [counts, expected] : cases) {
    struct Inputs {
      std::vector<ArithShare> models;
      ArithShare counts;
    };
    const Outcome outcome = RunOn(
        Seed{3},
        [&](mpc::Context& party) {
          return Inputs{Deal(party, models), InsecureDeal(party, Column(counts))};
        },
        [](mpc::Context& party, const Inputs& inputs) {
          return ChooseModel(party, inputs.models, ToAdditive(inputs.counts));
        });
    EXPECT_EQ(outcome.cost, Figures(ChooseModelCost(4, 21)));
    EXPECT_TRUE((outcome.value == models[expected]).all());
  }
}

class InitialiseTest : public testing::TestWithParam<InitialisationMethod> {};

TEST_P(InitialiseTest, ClassifiesBetterThanGuessingAtTheDeclaredCost) {
  const TrainingSettings settings = WithInitialisation(GetParam());
  const StepPlan plan = MakeStepPlan(settings);
  const InitialisationPlan initialisation = MakeInitialisationPlan(settings);
  const Outcome outcome = RunOn(
      Seed{4}, [](mpc::Context&) { return 0; },
      [&](mpc::Context& party, int) {
        const OwnRecords own = MakeRecords(settings, 10 + static_cast<std::uint64_t>(party.self()), 40);
        return Initialise(party, plan, initialisation, own).ring();
      });
  EXPECT_EQ(outcome.cost, Figures(InitialiseCost(plan, initialisation)));
  const OwnRecords test = MakeRecords(settings, 99, 300);
  const RingMatrix encoded = EncodeRecords(plan, test, AllRows(test), 300);
  EXPECT_GT(PlainCount(plan, encoded, outcome.value), 200);  // guessing gives 100
}

INSTANTIATE_TEST_SUITE_P(Methods, InitialiseTest,
                         testing::Values(InitialisationMethod::kAveraging, InitialisationMethod::kAccuracy));

TEST(EventsOf, ChargeTheLocalTrainingAndTheNoisySelection) {
  EXPECT_TRUE(EventsOf(std::nullopt).empty());
  EXPECT_EQ(EventsOf(MakeInitialisationPlan(WithInitialisation(InitialisationMethod::kAveraging))).size(),
            1U);

  TrainingSettings settings = WithInitialisation(InitialisationMethod::kAccuracy);
  const auto events = EventsOf(MakeInitialisationPlan(settings));
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(std::get<dp::LocalTraining>(events[0]).steps, 30);
  const auto& selection = std::get<dp::NoisySelection>(events[1]);
  EXPECT_EQ(selection.candidates, 4);
  EXPECT_DOUBLE_EQ(selection.sampling_rate, 0.5);
  EXPECT_EQ(selection.sigma, 1);
  // sigma sqrt(K) / sqrt(2) counts, in units of 2^-16.
  EXPECT_NEAR(selection.party_deviation, std::ldexp(2 / std::sqrt(2.0), 16), 2);
  EXPECT_LT(dp::OverflowProbability(selection.limits, 0.5), 1e-11);

  settings.initialisation->selection = Selection::kAsPublished;
  EXPECT_EQ(EventsOf(MakeInitialisationPlan(settings)).size(), 1U);
}

TEST(MakeInitialisationPlan, RefusesWhatIsOutsideItsDomain) {
  TrainingSettings settings = WithInitialisation(InitialisationMethod::kAccuracy);
  settings.initialisation->selection_sigma = 0;
  EXPECT_THROW((void)MakeInitialisationPlan(settings), ConfigError);
  settings = WithInitialisation(InitialisationMethod::kAccuracy);
  settings.initialisation->selection_rows = -1;
  EXPECT_THROW((void)MakeInitialisationPlan(settings), ConfigError);
  settings = WithInitialisation(InitialisationMethod::kAveraging);
  settings.initialisation->local.steps = 0;
  EXPECT_THROW((void)MakeInitialisationPlan(settings), ConfigError);
}

}  // namespace
}  // namespace trefoil::ml
