#include "ml/on_deposits/deposited_prediction.h"

#include <gtest/gtest.h>

#include <array>
#include <set>

#include "base/error.h"
#include "ml/batches/deposited_rows.h"
#include "ml/on_shares/correct_counts.h"
#include "ml/on_shares/held_out.h"
#include "protocols/arithmetic/reveal.h"
#include "tests/ml/on_shares/prediction_case.h"
#include "tests/reference/plain_classifier.h"
#include "tests/support/secrecy/uniformity.h"

namespace trefoil::ml {
namespace {

using mpc::Index;
using mpc::RingMatrix;
using mpc::Word;
using namespace testing_support;  // NOLINT(google-build-using-namespace): test helpers only

constexpr Index kRecords = 50;
constexpr std::array<Index, 3> kHeights{20, 1, 29};  // of deposits that these rows make

/// A client's encoded rows as deposits have them, with labels that say nothing; every seventh is padding.
RingMatrix AsOwnersSend(const StepPlan& plan, const RingMatrix& encoded) {
  const Index features = plan.settings.features;
  RingMatrix rows = RingMatrix::Zero(encoded.rows(), DepositedColumns(plan));
  for (Index row = 0; row < rows.rows(); ++row) {
    if (row % 7 == 6) continue;
    rows.row(row).leftCols(features) = encoded.row(row).leftCols(features);
    rows(row, features) = 1;
    rows(row, features + 1) = 1;
  }
  return rows;
}

std::vector<mpc::ArithShare> Dealt(mpc::Context& party, const RingMatrix& rows) {
  std::vector<mpc::ArithShare> deposited;
  Index first = 0;
  for (const Index height : kHeights) {
    deposited.push_back(InsecureDeal(party, RingMatrix(rows.middleRows(first, height))));
    first += height;
  }
  return deposited;
}

class DepositedPredictionTest : public testing::TestWithParam<PredictionCase> {};

TEST_P(DepositedPredictionTest, IsWhatTheModelSaysInTheClearAtTheDeclaredCost) {
  const auto& c = GetParam();
  const StepPlan plan = MakeStepPlan(SettingsOf(c));
  const DepositedRequest request{.rows = c.rows, .scores = c.scores};
  const LayerShape shape = ShapeOfWeights(plan);
  const RingMatrix weights = RandomSigned(8, shape.inputs, shape.outputs, 16);
  const OwnRecords records = MakeRecords(plan.settings, 9, kRecords);
  const RingMatrix encoded = EncodeRecords(plan, records, AllRows(records), kRecords);
  const RingMatrix rows = AsOwnersSend(plan, encoded);
  const auto parts = RunParties(Seed{6}, [&](mpc::Context& party) {
    const mpc::FixedShare shared(InsecureDeal(party, weights), 16);
    auto deposited = Dealt(party, rows);
    mpc::ArithShare result;
    MeasuredPart<RingMatrix> part;
    part.measured = protocols::Measure(
        party, [&] { result = PredictDeposited(party, plan, shared, std::move(deposited), request); });
    part.value = protocols::Reveal(party, result, protocols::ReleaseReason::kTest);
    return part;
  });
  EXPECT_EQ(Figures(parts), Figures(PredictDepositedCost(plan, request)));
  const RingMatrix& found = parts[0].value;
  ASSERT_EQ(found.rows(), c.rows);
  ASSERT_EQ(found.cols(), c.scores ? plan.columns : 1);
  std::set<int> classes;
  for (Index row = 0; row < kRecords; ++row) {
    if (row % 7 == 6) continue;
    const int expected = reference::PlainClass(plan, encoded, row, weights);
    classes.insert(expected);
    if (!c.scores) {
      EXPECT_EQ(found(row, 0), static_cast<Word>(expected)) << row;
    } else if (c.hidden.empty()) {
      const Eigen::MatrixXd logits =
          mpc::Decode(RingMatrix(encoded.row(row).leftCols(7)), 16) * mpc::Decode(weights, 16);
      const Eigen::MatrixXd opened = mpc::Decode(RingMatrix(found.row(row)), 32);
      for (Index k = 0; k < plan.columns; ++k) EXPECT_NEAR(opened(0, k), logits(0, k), 1e-9);
    }
  }
  EXPECT_GT(classes.size(), 1U);
}

INSTANTIATE_TEST_SUITE_P(
    Models, DepositedPredictionTest,
    testing::Values(PredictionCase{"classes"}, PredictionCase{"scores", {}, Loss::kOneVsRest, 5, true},
                    PredictionCase{"binary_squared", {}, Loss::kSquared, 2, false, 50},
                    PredictionCase{"binary_scores", {}, Loss::kOneVsRest, 2, true},
                    PredictionCase{"binary_threshold", {}, Loss::kOneVsRest, 2, false, 60, 1, 0.58},
                    PredictionCase{"two_blocks", {}, Loss::kOneVsRest, 3, false, kHeldOutBlock + 3},
                    PredictionCase{"scores_of_two_blocks", {}, Loss::kOneVsRest, 3, true, kHeldOutBlock + 3},
                    PredictionCase{"network", {6, 5}},
                    PredictionCase{"network_scores", {6}, Loss::kOneVsRest, 3, true}),
    [](const auto& info) { return info.param.name; });

// The components of 4,096 equal rows: of one result two of them, and what two add up to, are uniform whatever
// the result is.
TEST(DepositedPrediction, HasComponentsThatAreUniformGivenTheResult) {
  constexpr Index kEqual = 4096;
  for (const bool scores : {false, true}) {
    const StepPlan plan = MakeStepPlan(SettingsOf(PredictionCase{.name = "", .classes = 2}));
    RingMatrix rows = RingMatrix::Zero(kEqual, DepositedColumns(plan));
    rows.leftCols(1).setConstant(Word{1} << 15);
    rows.col(plan.settings.features).setConstant(1);
    const RingMatrix weights = RandomSigned(8, plan.settings.features + 1, 1, 16);
    const auto parts = RunParties(Seed{3}, [&](mpc::Context& party) {
      const mpc::FixedShare shared(InsecureDeal(party, weights), 16);
      const auto result = PredictDeposited(party, plan, shared, {InsecureDeal(party, rows)},
                                           {.rows = kEqual, .scores = scores});
      return protocols::HandOut(result, protocols::ReleaseReason::kTest);
    });
    UniformityChecker checker;
    const auto uniform = [&](const RingMatrix& words) {
      return checker.AreUniform({words.data(), static_cast<std::size_t>(words.size())});
    };
    RingMatrix all = RingMatrix::Zero(kEqual, 1);
    for (std::size_t party = 0; party < 3; ++party) {
      const auto& [own, next] = parts[party];
      EXPECT_TRUE((next == parts[(party + 1) % 3][0]).all());
      EXPECT_TRUE(uniform(own)) << party;
      EXPECT_TRUE(uniform(own + next)) << party;
      EXPECT_TRUE(uniform(own - next)) << party;
      all += own;
    }
    EXPECT_FALSE(uniform(all));
    EXPECT_TRUE((all == all(0, 0)).all());
  }
}

TEST(DepositedPrediction, RefusesOtherColumnsAndMoreRowsThanTheRequest) {
  const StepPlan plan = MakeStepPlan(SettingsOf(PredictionCase{.name = ""}));
  const auto run = [&](Index rows, Index columns) {
    (void)RunParties(Seed{1}, [&](mpc::Context& party) {
      const mpc::FixedShare weights(InsecureDeal(party, RingMatrix::Zero(7, 3)), 16);
      (void)PredictDeposited(party, plan, weights, {InsecureDeal(party, RingMatrix::Zero(rows, columns))},
                             {.rows = 5});
      return 0;
    });
  };
  run(5, 10);
  EXPECT_THROW(run(6, 10), ContractError);
  EXPECT_THROW(run(5, 9), ContractError);
}

}  // namespace
}  // namespace trefoil::ml
