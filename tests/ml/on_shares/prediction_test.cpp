#include "ml/on_shares/prediction.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "ml/on_shares/held_out.h"
#include "tests/ml/on_shares/prediction_case.h"
#include "tests/reference/plain_classifier.h"

namespace trefoil::ml {
namespace {

using mpc::Index;
using mpc::RingMatrix;
using namespace testing_support;  // NOLINT(google-build-using-namespace): test helpers only

constexpr Index kOwn = 50;

class PredictTest : public testing::TestWithParam<PredictionCase> {};

TEST_P(PredictTest, TellsTheClientAloneAtTheDeclaredCost) {
  const PredictionCase& c = GetParam();
  const StepPlan plan = MakeStepPlan(SettingsOf(c));
  const PredictionRequest request{.client = c.client, .rows = c.rows, .scores = c.scores};
  const LayerShape shape = ShapeOfWeights(plan);
  const RingMatrix weights = RandomSigned(8, shape.inputs, shape.outputs, 16);
  OwnRecords records = MakeRecords(plan.settings, 9, kOwn);
  const RingMatrix encoded = EncodeRecords(plan, records, AllRows(records), kOwn);
  records.y.clear();
  const auto parts = RunParties(Seed{6}, [&](mpc::Context& party) {
    const mpc::FixedShare shared(InsecureDeal(party, weights), 16);
    const OwnRecords own = party.self() == c.client ? records : OwnRecords{};
    MeasuredPart<std::optional<Predictions>> part;
    part.measured =
        protocols::Measure(party, [&] { part.value = PredictOnShares(party, plan, shared, request, own); });
    return part;
  });
  EXPECT_EQ(Figures(parts), Figures(PredictOnSharesCost(plan, request)));
  for (int party = 0; party < 3; ++party)
    EXPECT_EQ(parts[static_cast<std::size_t>(party)].value.has_value(), party == c.client);
  const Predictions& predictions = *parts[static_cast<std::size_t>(c.client)].value;
  ASSERT_EQ(predictions.classes.size(), static_cast<std::size_t>(kOwn));
  ASSERT_EQ(predictions.scores.has_value(), c.scores);
  int like_first = 0;
  for (Index row = 0; row < kOwn; ++row) {
    const int expected = reference::PlainClass(plan, encoded, row, weights);
    EXPECT_EQ(predictions.classes[static_cast<std::size_t>(row)], expected) << row;
    like_first += expected == predictions.classes[0] ? 1 : 0;
    if (!c.scores || !c.hidden.empty()) continue;
    const Eigen::MatrixXd logits =
        mpc::Decode(RingMatrix(encoded.row(row).leftCols(7)), 16) * mpc::Decode(weights, 16);
    for (Index k = 0; k < plan.columns; ++k) EXPECT_NEAR((*predictions.scores)(row, k), logits(0, k), 1e-9);
  }
  EXPECT_LT(like_first, kOwn);
}

INSTANTIATE_TEST_SUITE_P(
    Models, PredictTest,
    testing::Values(
        PredictionCase{"classes"}, PredictionCase{"scores", {}, Loss::kOneVsRest, 5, true},
        PredictionCase{"binary_squared", {}, Loss::kSquared, 2, false, 50, 0},
        PredictionCase{"binary_scores", {}, Loss::kOneVsRest, 2, true, 60, 2},
        PredictionCase{"binary_threshold", {}, Loss::kOneVsRest, 2, false, 60, 1, 0.58},
        PredictionCase{"binary_scores_threshold", {}, Loss::kOneVsRest, 2, true, 60, 1, 0.58},
        PredictionCase{"binary_squared_threshold", {}, Loss::kSquared, 2, false, 60, 1, 0.6},
        PredictionCase{"two_blocks_one_of_padding", {}, Loss::kOneVsRest, 3, false, kHeldOutBlock + 3, 2},
        PredictionCase{"scores_of_two_blocks", {}, Loss::kOneVsRest, 3, true, kHeldOutBlock + 3, 0},
        PredictionCase{"network", {6, 5}}, PredictionCase{"network_scores", {6}, Loss::kOneVsRest, 3, true}),
    [](const auto& info) { return info.param.name; });

TEST(Predict, RefusesMoreRowsOrOtherFeaturesThanDeclared) {
  const StepPlan plan = MakeStepPlan(SettingsOf(PredictionCase{.name = ""}));
  const auto run = [&](const OwnRecords& own) {
    (void)RunParties(Seed{1}, [&](mpc::Context& party) {
      const mpc::FixedShare weights(InsecureDeal(party, RingMatrix::Zero(7, 3)), 16);
      (void)PredictOnShares(party, plan, weights, {.client = 0, .rows = 5},
                            party.self() == 0 ? own : OwnRecords{});
      return 0;
    });
  };
  run(MakeRecords(plan.settings, 1, 5));
  EXPECT_THROW(run(MakeRecords(plan.settings, 1, 6)), DataError);
  OwnRecords narrow = MakeRecords(plan.settings, 1, 5);
  narrow.x.conservativeResize(Eigen::NoChange, 3);
  EXPECT_THROW(run(narrow), DataError);
}

TEST(Train, KeepsTheModelInSharesWhereItIsReleasedToNobody) {
  TrainingSettings settings = SmallSettings();
  settings.release_to.clear();
  settings.sigma = 0.5;
  settings.clip = 2;
  settings.steps = 60;
  const StepPlan plan = MakeStepPlan(settings);
  const OwnRecords test = MakeRecords(settings, 99, 200);
  const auto results = RunParties(Seed{1}, [&](mpc::Context& party) {
    const OwnRecords own = MakeRecords(settings, 10 + static_cast<std::uint64_t>(party.self()), 40);
    const TrainingResult result =
        Train(party, settings, own,
              {.on_step = [](const StepReport&) {}, .on_record = [](const dp::TrainingRecord&) {}});
    EXPECT_FALSE(result.model);
    EXPECT_TRUE(result.share);
    return PredictOnShares(party, plan, *result.share, {.client = 2, .rows = 200},
                           party.self() == 2 ? test : OwnRecords{});
  });
  ASSERT_TRUE(results[2]);
  int correct = 0;
  for (std::size_t row = 0; row < test.y.size(); ++row) correct += results[2]->classes[row] == test.y[row];
  EXPECT_GT(correct, 140);  // guessing gives 67
}

}  // namespace
}  // namespace trefoil::ml
