#include "ml/plan/step_journal.h"

#include "tests/support/ml_test.h"

namespace trefoil::ml {
namespace {

using namespace testing_support;  // NOLINT(google-build-using-namespace): test helpers only

/// The steps that are announced while steps 0, 1, ... of `steps` begin; each is announced before it begins.
std::vector<std::int64_t> AnnouncedFor(int steps) {
  TrainingSettings settings = SmallSettings();
  settings.steps = steps;
  settings.sampling = Sampling::kPublic;
  const StepPlan plan = MakeStepPlan(settings);
  const auto half = [](int some) -> std::int64_t { return some / 2; };
  const ExecutionHistory executed(plan, 1.0, {dp::LocalTraining{.steps = 7}}, {}, true, 0, half);
  std::vector<std::int64_t> announced;
  const StepJournal::Announce announce = [&](const dp::TrainingRecord& record, int upto) {
    EXPECT_EQ(std::get<dp::LocalTraining>(record.events.at(0)).steps, 7);
    const auto& event = std::get<dp::DpSgdSteps>(record.events.at(1));
    EXPECT_EQ(event.max_participation, event.steps / 2);
    EXPECT_EQ(event.steps, upto);
    announced.push_back(event.steps);
  };
  StepJournal announcements(steps, executed, announce);
  announcements.Before(0);
  for (int step = 0; step < steps; ++step) {
    announcements.Before(step);
    EXPECT_GT(announced.back(), step);
  }
  EXPECT_EQ(announced.back(), steps);
  return announced;
}

TEST(StepJournal, AreMadeBeforeStepsAndNotForEach) {
  EXPECT_EQ(AnnouncedFor(3), (std::vector<std::int64_t>{1, 2, 3}));
  const auto of_many = AnnouncedFor(120);
  EXPECT_EQ(of_many.size(), 40U);
  EXPECT_EQ(of_many[1], 6);
  EXPECT_EQ(AnnouncedFor(10001).size(), 50U);
}

TEST(StepJournal, OfAResumedRunBeginWhereItDoes) {
  const StepPlan plan = MakeStepPlan(SmallSettings());
  const auto none = [](int) -> std::int64_t { return 0; };
  const SessionHistory earlier{{.id = "a", .from_start = true, .first = 0, .begun = 9}};
  const ExecutionHistory executed(plan, 1.0, {}, earlier, false, 8, none);
  std::vector<std::pair<std::int64_t, int>> announced;
  const StepJournal::Announce announce = [&](const dp::TrainingRecord& record, int upto) {
    announced.emplace_back(std::get<dp::DpSgdSteps>(record.events.at(0)).steps, upto);
  };
  StepJournal announcements(10, executed, announce);
  for (const int step : {8, 8, 9, 10}) announcements.Before(step);
  EXPECT_EQ(announced, (std::vector<std::pair<std::int64_t, int>>{{10, 9}, {11, 10}}));
}

TEST(StepJournal, AreNotMadeToNobody) {
  const StepPlan plan = MakeStepPlan(SmallSettings());
  const StepJournal::Announce nobody;
  const ExecutionHistory executed(plan, 1.0, {}, {}, true, 0, [](int) -> std::int64_t { return 0; });
  StepJournal announcements(10, executed, nobody);
  announcements.Before(0);
}

}  // namespace
}  // namespace trefoil::ml
