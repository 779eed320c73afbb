#include "ml/plan/run_cost.h"

#include <gtest/gtest.h>

#include "ml/plan/step_plan.h"
#include "protocols/arithmetic/agreement.h"
#include "tests/support/ml_test.h"

namespace trefoil::ml {
namespace {

using mpc::Cost;

// A dealer, at first party 2, sends 1,000 bytes ahead; its peers 10 each; the roles turn.
Cost Dealt() {
  const Cost cost = Then(Cost::Offline({{2, 1, 1000}}), Cost::Round({{0, 1, 10}, {1, 0, 10}}));
  return cost.WithTurn();
}

/// What is planned of a run beyond its messages.
double Computing(const TrainingSettings& settings) {
  return PlannedRunSeconds(settings, protocols::Form::kBulk,
                           {.message_seconds = 0, .bytes_per_second = 1e15});
}

TEST(PlannedRunSeconds, CountEpsilonsOfLossDistributionsOnceAMark) {
  TrainingSettings settings = testing_support::SmallSettings();
  settings.sigma = 2;
  settings.steps = 100;
  const double without = Computing(settings);
  settings.accountant = dp::AccountantKind::kPld;
  const double marks = Computing(settings) - without;
  EXPECT_GT(marks, 1);  // twenty, of a tenth of a second each
  settings.steps = 200;
  const double of_more = Computing(settings);
  settings.accountant = dp::AccountantKind::kRdp;
  EXPECT_NEAR(of_more - Computing(settings), marks, 1e-9);
  settings.sampling = Sampling::kFull;
  settings.expected_batch = 120;
  const double full = Computing(settings);
  settings.accountant = dp::AccountantKind::kPld;
  EXPECT_EQ(Computing(settings), full) << "a formula";
}

TEST(PlannedRunSeconds, CountWhatRowsOfOneColumnTakeToBeRead) {
  TrainingSettings settings = testing_support::SmallSettings();
  settings.sigma = 2;
  settings.features = 20'000;
  const auto of_a_step = [&](int classes) {
    settings.classes = classes;
    settings.steps = 1;
    const double one = Computing(settings);
    settings.steps = 2;
    return Computing(settings) - one;
  };
  // Two classes are one column, six multiply-adds an element, but both products read all rows: seven
  // nanoseconds an element that no cache holds.
  const StepPlan plan = MakeStepPlan(settings, protocols::Form::kBulk);
  const double elements = static_cast<double>(plan.batch_rows * settings.features);
  EXPECT_GT(of_a_step(2), (elements - 5e5) * (6e-9 + 7e-9));
  EXPECT_GT(of_a_step(10), elements * 6 * 10 * 0.24e-9);
}

TEST(PlannedRunSeconds, CountTheMemoryOfTheFirstStepsOnce) {
  TrainingSettings settings = testing_support::SmallSettings();
  settings.sigma = 2;
  settings.steps = 1;
  settings.features = 100;
  const double narrow = Computing(settings);
  settings.features = 1'000;
  const double wide = Computing(settings);
  settings.steps = 2;
  const double both = Computing(settings);
  settings.features = 100;
  const double steps_of_more = (both - wide) - (Computing(settings) - narrow);
  const auto elements = static_cast<double>(MakeStepPlan(settings).batch_rows * 900);
  EXPECT_NEAR(wide - narrow - steps_of_more, elements * 40e-9, elements * 1e-9);
}

TEST(SessionCost, IsThatOfAllPartsAfterTheKeys) {
  SessionCost session;
  EXPECT_EQ(session.total().rounds, protocols::AgreeOnKeysCost().rounds());
  session.Add(Dealt(), 2);
  session.AddUnturned(Cost::Round({{0, 1, 7}}));
  session.Add(Dealt());
  EXPECT_EQ(session.total().rounds, 4);
  // Each has been the dealer; what is between parties as numbered does not turn.
  const std::array<std::uint64_t, 3> expected{64 + 1020 + 7, 64 + 1020, 64 + 1020};
  EXPECT_EQ(session.total().bytes_sent, expected);
}

TEST(SessionCost, WaitsForThePartyThatSendsMostInEachPart) {
  const protocols::Link link{.message_seconds = 0.5, .bytes_per_second = 100};
  SessionCost session;
  const double keys = session.Seconds({}, link);
  EXPECT_NEAR(keys, 0.5 + 0.64, 0.01);
  session.Add(Dealt(), 3);
  // Each of the three sends a thousand bytes, one after another.
  EXPECT_NEAR(session.Seconds({}, link) - keys, 3 * 0.5 + 3 * 10, 0.01);
}

TEST(SessionCost, AddsComputation) {
  const protocols::Link link{.message_seconds = 0, .bytes_per_second = 1e12};
  const SessionCost session;
  const double nothing = session.Seconds({}, link);
  EXPECT_NEAR(session.Seconds({.comparison_seconds = 3}, link), nothing + 3, 1e-9);
  for (const Work& work :
       {Work{.draws = 1e9}, Work{.coins = 1e9}, Work{.elements = 1e9}, Work{.multiply_adds = 1e9}}) {
    EXPECT_GT(session.Seconds(work, link), nothing + 0.1);
    EXPECT_LT(session.Seconds(work, link), nothing + 1000);
  }
}

}  // namespace
}  // namespace trefoil::ml
