#include "ml/ranks/rank_prediction.h"

#include <gtest/gtest.h>

#include <mutex>
#include <optional>

#include "base/error.h"
#include "ml/on_shares/held_out.h"
#include "tests/ml/on_shares/prediction_case.h"
#include "tests/support/thread_ranks.h"

namespace trefoil::ml {
namespace {

using mpc::RingMatrix;
using namespace testing_support;  // NOLINT(google-build-using-namespace): test helpers only

/// What rank 0 of the client gets, and checks that nobody else gets anything, of so many ranks.
Predictions PredictedBy(int ranks, const PredictionCase& c, const RingMatrix& weights,
                        const OwnRecords& records) {
  const StepPlan plan = MakeStepPlan(SettingsOf(c));
  const PredictionRequest request{.client = c.client, .rows = c.rows, .scores = c.scores};
  std::mutex mutex;
  std::optional<Predictions> predictions;
  std::vector<std::uint64_t> sent(static_cast<std::size_t>(ranks));
  RunRanks(ranks, Seed{6}, [&](mpc::Context& party, mpc::Ranks& own_ranks) {
    const bool first = own_ranks.rank() == 0;
    const mpc::FixedShare shared =
        first ? mpc::FixedShare(InsecureDeal(party, weights), 16) : mpc::FixedShare();
    const OwnRecords own = first && party.self() == c.client ? records : OwnRecords{};
    auto got = PredictOnRanks(party, plan, shared, request, own, own_ranks);
    const auto& counters = party.transport().counters();
    const std::lock_guard lock(mutex);
    EXPECT_EQ(got.has_value(), first && party.self() == c.client);
    if (got) predictions = std::move(got);
    sent.at(static_cast<std::size_t>(own_ranks.rank())) += counters.bytes_sent + counters.bytes_offline;
  });
  for (const auto bytes : sent)
    EXPECT_EQ(bytes, PredictOnSharesCost(plan, RankRequest(request, ranks)).bytes_of_all());
  return *predictions;
}

using RankPredictionTest = testing::TestWithParam<PredictionCase>;

// 50 rows of at most 60, or of more: the last machine, or two, may have none.
TEST_P(RankPredictionTest, TellsTheClientWhatOneMachineDoes) {
  const PredictionCase& c = GetParam();
  const LayerShape shape = ShapeOfWeights(MakeStepPlan(SettingsOf(c)));
  const RingMatrix weights = RandomSigned(8, shape.inputs, shape.outputs, 16);
  OwnRecords records = MakeRecords(SettingsOf(c), 9, 50);
  records.y.clear();
  const Predictions expected = PredictedBy(1, c, weights, records);
  ASSERT_EQ(expected.classes.size(), 50U);
  for (const int ranks : {2, 7}) {
    const Predictions found = PredictedBy(ranks, c, weights, records);
    EXPECT_EQ(found.classes, expected.classes);
    EXPECT_EQ(found.scores, expected.scores);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Models, RankPredictionTest,
    testing::Values(PredictionCase{"classes"}, PredictionCase{"scores", {}, Loss::kOneVsRest, 5, true},
                    PredictionCase{"binary_squared", {}, Loss::kSquared, 2, false, 50, 0},
                    PredictionCase{"mostly_padding", {}, Loss::kOneVsRest, 3, true, 150, 2},
                    PredictionCase{"network_scores", {6}, Loss::kOneVsRest, 3, true}),
    [](const auto& info) { return info.param.name; });

// More than are handed out at once, the last machine's fewer than the others'.
TEST(RankPrediction, HandsOutRowsBlockByBlock) {
  const PredictionCase c{"", {}, Loss::kOneVsRest, 3, true, 3 * kHeldOutBlock};
  const RingMatrix weights = RandomSigned(8, 7, 3, 16);
  OwnRecords records = MakeRecords(SettingsOf(c), 9, static_cast<int>(c.rows) - 5);
  records.y.clear();
  EXPECT_EQ(PredictedBy(3, c, weights, records).scores, PredictedBy(1, c, weights, records).scores);
}

TEST(RankPrediction, RefusesMoreRowsThanDeclaredAndEndsAllRanks) {
  const StepPlan plan = MakeStepPlan(SettingsOf(PredictionCase{.name = ""}));
  const auto ends = EndsOfRanks(2, Seed{2}, [&](mpc::Context& party, mpc::Ranks& ranks) {
    const mpc::FixedShare weights(InsecureDeal(party, RingMatrix::Zero(7, 3)), 16);
    (void)PredictOnRanks(
        party, plan, weights, {.client = 0, .rows = 5},
        ranks.rank() == 0 && party.self() == 0 ? MakeRecords(plan.settings, 9, 6) : OwnRecords{}, ranks);
  });
  EXPECT_THROW(std::rethrow_exception(ends[0][0]), DataError);
  for (const auto& end : {ends[0][1], ends[0][2], ends[1][0], ends[1][1], ends[1][2]}) {
    ASSERT_TRUE(end);
    EXPECT_THROW(std::rethrow_exception(end), NetworkError);
  }
}

}  // namespace
}  // namespace trefoil::ml
