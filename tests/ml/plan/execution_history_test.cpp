#include "ml/plan/execution_history.h"

#include <map>

#include "base/error.h"
#include "tests/support/ml_test.h"

namespace trefoil::ml {
namespace {

using namespace testing_support;  // NOLINT(google-build-using-namespace): test helpers only

StepPlan PlanOfSteps(int steps, Sampling sampling) {
  TrainingSettings settings = SmallSettings();
  settings.steps = steps;
  settings.sampling = sampling;
  if (sampling == Sampling::kDeposited) {
    settings.deposited = true;
    settings.rows = {120, 0, 0};
    settings.batches = DepositedBatches{.deposits = 3, .records = 40};
  }
  settings.evaluation = EvaluationSettings{.test = {.holder = 0, .rows = 9}, .to = {0}, .sigma = 20};
  return MakeStepPlan(settings);
}

std::int64_t None(int) { return 0; }

/// How many events of each kind, and the steps of those that are steps.
struct Counts {
  int local = 0;
  int evaluations = 0;
  std::int64_t steps = 0;
};

Counts CountsOf(const std::vector<dp::RecordedEvent>& events) {
  Counts counts;
  for (const auto& event : events) {
    counts.local += std::holds_alternative<dp::LocalTraining>(event) ? 1 : 0;
    counts.evaluations += std::holds_alternative<dp::NoisyEvaluation>(event) ? 1 : 0;
    if (const auto* steps = std::get_if<dp::DpSgdSteps>(&event)) counts.steps += steps->steps;
  }
  return counts;
}

TEST(ExecutionHistory, IsTheStepsAloneOfARunThatWasNeverInterrupted) {
  const StepPlan plan = PlanOfSteps(40, Sampling::kOwnerPoisson);
  const ExecutionHistory executed(plan, 1, {dp::LocalTraining{.steps = 7}}, {}, true, 0, None);
  const auto counts = CountsOf(executed.Events(40, true));
  EXPECT_EQ(counts.local, 1);
  EXPECT_EQ(counts.steps, 40);
  EXPECT_EQ(counts.evaluations, 1);
  EXPECT_EQ(CountsOf(executed.Events(13, false)).steps, 13);
  EXPECT_EQ(CountsOf(executed.Events(13, false)).evaluations, 0);
  EXPECT_EQ(executed.FirstFresh(), 0);
  EXPECT_TRUE(executed.EventsBefore().empty());
}

TEST(ExecutionHistory, CountsWhatWasLostAsOftenAsItWasBegun) {
  const StepPlan plan = PlanOfSteps(40, Sampling::kOwnerPoisson);
  // Twice from the start, with 3 and 25 steps begun; from step 20 with 11; from 30 to the end and evaluated.
  const SessionHistory earlier{{.id = "a", .from_start = true, .first = 0, .begun = 3},
                               {.id = "b", .from_start = true, .first = 0, .begun = 25},
                               {.id = "c", .first = 20, .begun = 31},
                               {.id = "d", .first = 30, .begun = 40, .evaluated = true}};
  const ExecutionHistory executed(plan, 1, {dp::LocalTraining{.steps = 7}}, earlier, false, 40, None);
  const auto counts = CountsOf(executed.Events(40, true));
  EXPECT_EQ(counts.steps, 3 + 25 + 11 + 10);
  EXPECT_EQ(counts.local, 2);
  EXPECT_EQ(counts.evaluations, 2);
  const auto before = CountsOf(executed.EventsBefore());
  EXPECT_EQ(before.steps, 3 + 25 + 11 + 10);
  EXPECT_EQ(before.local, 2);
  EXPECT_EQ(before.evaluations, 1);
  const ExecutionHistory again(plan, 1, {dp::LocalTraining{.steps = 7}}, earlier, true, 0, None);
  EXPECT_EQ(CountsOf(again.Events(1, false)).local, 3);
  EXPECT_EQ(again.Steps(1), 3 + 25 + 11 + 10 + 1);
  EXPECT_EQ(CountsOf(again.EventsBefore()).local, 2);
}

TEST(ExecutionHistory, TakesAnyRowToBeInEveryStepOfOtherCoins) {
  const StepPlan plan = PlanOfSteps(40, Sampling::kPublic);
  const SessionHistory earlier{{.id = "a", .from_start = true, .first = 0, .begun = 3},
                               {.id = "b", .from_start = true, .first = 0, .begun = 25},
                               {.id = "c", .first = 20, .begun = 31}};
  const auto half = [](int step) -> std::int64_t { return step / 2; };
  const ExecutionHistory executed(plan, 1, {}, earlier, false, 30, half);
  EXPECT_EQ(executed.Participation(40), 3 + 20);
  const auto ranges = StepsByTheseCoins(earlier, false);
  ASSERT_EQ(ranges.size(), 2U);
  EXPECT_EQ(ranges[0].last, 25);
  EXPECT_EQ(ranges[1].first, 20);
  EXPECT_EQ(ExecutionHistory(plan, 1, {}, earlier, true, 0, half).Participation(0), 3 + 25 + 11);
  EXPECT_TRUE(StepsByTheseCoins(earlier, true).empty());
}

// Steps that are done again by the same coins take the same rows.
TEST(ExecutionHistory, CountsHowOftenABatchWasExecuted) {
  const StepPlan plan = PlanOfSteps(40, Sampling::kPublic);
  // Other coins: 3 batches. These coins: 0 ... 25, 20 ... 31 and, in this session, 20 ... 40.
  const SessionHistory earlier{{.id = "a", .from_start = true, .first = 0, .begun = 3},
                               {.id = "b", .from_start = true, .first = 0, .begun = 25},
                               {.id = "c", .first = 20, .begun = 31}};
  std::int64_t participation = 0;
  const auto count = [&](const ExecutionHistory& executed, int step) {
    std::map<std::int64_t, std::int64_t> counts;
    participation = 0;
    for (const auto& event : executed.Events(step, false)) {
      const auto& steps = std::get<dp::DpSgdSteps>(event);
      counts[steps.executions] += steps.steps;
      participation += steps.max_participation;
    }
    return counts;
  };
  const auto batches = [&](const ExecutionHistory& executed, int step) {
    auto counts = count(executed, step);
    EXPECT_EQ(participation, executed.Participation(step));
    return counts;
  };
  const auto half = [](int step) -> std::int64_t { return step / 2; };
  const ExecutionHistory executed(plan, 1, {}, earlier, false, 20, half);
  using Counts = std::map<std::int64_t, std::int64_t>;
  EXPECT_EQ(batches(executed, 20), (Counts{{1, 3 + 20 + 6}, {2, 5}}));
  EXPECT_EQ(batches(executed, 23), (Counts{{1, 3 + 20 + 6}, {2, 2}, {3, 3}}));
  EXPECT_EQ(batches(executed, 40), (Counts{{1, 3 + 20 + 9}, {2, 6}, {3, 5}}));
  EXPECT_EQ(executed.FirstFresh(), 31);
  EXPECT_EQ(batches(ExecutionHistory(plan, 1, {}, earlier, true, 0, half), 4),
            (Counts{{1, 3 + 20 + 6 + 4}, {2, 5}}));
  // Every owner draws anew otherwise.
  const StepPlan private_coins = PlanOfSteps(40, Sampling::kOwnerPoisson);
  EXPECT_EQ(count(ExecutionHistory(private_coins, 1, {}, earlier, false, 20, None), 40),
            (Counts{{1, 3 + 25 + 11 + 20}}));
  EXPECT_EQ(participation, 0);
}

// Deposited batches are those of the run: a session that begins it anew does their steps again, too.
TEST(ExecutionHistory, CountsDepositedBatchesOverAllSessions) {
  const StepPlan plan = PlanOfSteps(40, Sampling::kDeposited);
  const SessionHistory earlier{{.id = "a", .from_start = true, .first = 0, .begun = 3},
                               {.id = "b", .from_start = true, .first = 0, .begun = 25},
                               {.id = "c", .first = 20, .begun = 31}};
  using Counts = std::map<std::int64_t, std::int64_t>;
  const auto batches = [](const ExecutionHistory& executed, int step) {
    Counts counts;
    for (const auto& event : executed.Events(step, false)) {
      const auto& steps = std::get<dp::DpSgdSteps>(event);
      EXPECT_EQ(steps.sampling, dp::SamplingMode::kDeposited);
      EXPECT_EQ(steps.max_participation, 0);
      EXPECT_EQ(steps.limits.capacity[0], 40);
      counts[steps.executions] += steps.steps;
    }
    return counts;
  };
  const ExecutionHistory executed(plan, 1, {}, earlier, false, 20, None);
  EXPECT_EQ(batches(executed, 20), (Counts{{1, 17 + 6}, {2, 3 + 5}}));
  EXPECT_EQ(batches(executed, 40), (Counts{{1, 17 + 9}, {2, 3 + 6}, {3, 5}}));
  EXPECT_EQ(executed.FirstFresh(), 31);
  const ExecutionHistory anew(plan, 1, {}, earlier, true, 0, None);
  EXPECT_EQ(batches(anew, 40), (Counts{{1, 9}, {2, 17 + 6}, {3, 3 + 5}}));
  EXPECT_EQ(anew.FirstFresh(), 31);
  EXPECT_EQ(batches(ExecutionHistory(plan, 1, {}, {}, true, 0, None), 40), (Counts{{1, 40}}));
}

TEST(ExecutionHistory, RefusesSessionsThatBeginNoStepsOfTheRun) {
  const StepPlan plan = PlanOfSteps(40, Sampling::kOwnerPoisson);
  for (const SessionSteps& session :
       {SessionSteps{.id = "a", .first = 5, .begun = 4}, SessionSteps{.id = "a", .first = -1, .begun = 4},
        SessionSteps{.id = "a", .first = 5, .begun = 41}}) {
    EXPECT_THROW(ExecutionHistory(plan, 1, {}, {session}, false, 4, None), ContractError);
  }
}

}  // namespace
}  // namespace trefoil::ml
