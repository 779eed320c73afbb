#include "ml/announcements.h"

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
  const std::vector<dp::RecordedEvent> before{dp::LocalTraining{.steps = 7}};
  std::vector<std::int64_t> announced;
  const Announcements::Announce announce = [&](const dp::TrainingRecord& record) {
    EXPECT_EQ(std::get<dp::LocalTraining>(record.events.at(0)).steps, 7);
    const auto& event = std::get<dp::DpSgdSteps>(record.events.at(1));
    EXPECT_EQ(event.max_participation, event.steps / 2);
    announced.push_back(event.steps);
  };
  Announcements announcements(
      plan, 1.0, before, [](int some) { return some / 2; }, announce);
  announcements.Before(0);
  for (int step = 0; step < steps; ++step) {
    announcements.Before(step);
    EXPECT_GT(announced.back(), step);
  }
  EXPECT_EQ(announced.back(), steps);
  return announced;
}

TEST(Announcements, AreMadeBeforeStepsAndNotForEach) {
  EXPECT_EQ(AnnouncedFor(3), (std::vector<std::int64_t>{1, 2, 3}));
  const auto of_many = AnnouncedFor(120);
  EXPECT_EQ(of_many.size(), 40U);
  EXPECT_EQ(of_many[1], 6);
  EXPECT_EQ(AnnouncedFor(10001).size(), 50U);
}

TEST(Announcements, AreNotMadeToNobody) {
  const StepPlan plan = MakeStepPlan(SmallSettings());
  const Announcements::Announce nobody;
  const std::vector<dp::RecordedEvent> none;
  Announcements announcements(
      plan, 1.0, none, [](int) -> std::int64_t { return 0; }, nobody);
  announcements.Before(0);
}

}  // namespace
}  // namespace trefoil::ml
