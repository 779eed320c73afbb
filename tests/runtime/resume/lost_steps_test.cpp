#include "runtime/resume/lost_steps.h"

#include <gmock/gmock.h>
#include <spdlog/fmt/fmt.h>

#include "jobs/config/toml/toml_reader.h"
#include "jobs/dpsgd/job.h"

namespace trefoil::runtime {
namespace {

using testing::HasSubstr;

constexpr const char* kLossyJob = R"(
version = 1
type = "dpsgd"
name = "lossy"
[data]
name = "lossy"
format = "idx"
rows = [200, 200, 200]
features = 4
classes = 3
[training]
steps = 150
expected_batch = 60
max_batch_per_owner = 60
learning_rate = 1
checkpoint_every = 10
[privacy]
epsilon = 3
delta = 1e-5
clip = 0.5
)";

std::unique_ptr<jobs::Job> Read(const std::vector<std::string>& more = {}) {
  auto table = toml::parse(std::string(kLossyJob));
  for (const auto& assignment : more) jobs::SetValue(table, assignment);
  return jobs::kDpsgdType.read(table, "lossy.toml");
}

/// RefusalOfLosses() of the job that is read so.
std::optional<std::string> Refusal(const AgreedRun& agreed, const std::vector<std::string>& more = {}) {
  return RefusalOfLosses(*Read(more), agreed);
}

/// A run whose sessions began ten steps each, all from the start, and that begins there once more.
AgreedRun FromTheStart(int sessions) {
  AgreedRun agreed{.run_id = "a0", .from = {}, .earlier = {}};
  for (int k = 0; k < sessions; ++k)
    agreed.earlier.push_back({.id = fmt::format("a{}", k), .from_start = true, .first = 0, .begun = 10});
  return agreed;
}

TEST(LostSteps, AreThoseThatTheRunDoesNotGoOnFrom) {
  EXPECT_EQ(LostSteps({}), 0);
  EXPECT_EQ(LostSteps(FromTheStart(3)), 30);
  AgreedRun agreed{.run_id = "aa", .from = CheckpointName{20, "bb"}, .earlier = {}};
  agreed.earlier = {{.id = "aa", .from_start = true, .first = 0, .begun = 17},
                    {.id = "bb", .from_start = false, .first = 10, .begun = 26}};
  EXPECT_EQ(LostSteps(agreed), 7 + 6);
}

// On a full disk version 0.1 took eight such sessions, which ended at epsilon 4.63 for a target of 3.
TEST(RefusalOfLosses, EndsARestartLoopBeforeItSpendsMuch) {
  EXPECT_EQ(Read()->Steps().lost_max, 15);
  EXPECT_FALSE(Refusal(FromTheStart(0)));
  EXPECT_FALSE(Refusal(FromTheStart(1)));
  const auto refusal = Refusal(FromTheStart(2));
  ASSERT_TRUE(refusal);
  EXPECT_THAT(*refusal, HasSubstr("training.lost_steps_max: found 20 lost steps, which take epsilon from "));
  EXPECT_THAT(*refusal, HasSubstr(" 3.000 insider to "));
  EXPECT_THAT(*refusal,
              HasSubstr("resumed from step 0, too; expected at most 15 lost steps, or run --resume --again"));
}

TEST(RefusalOfLosses, LetsAFirstSessionFromACheckpointBe) {
  auto agreed = FromTheStart(2);
  agreed.from = CheckpointName{.step = 10, .session = "a1"};
  agreed.earlier.back().begun = 60;
  EXPECT_EQ(LostSteps(agreed), 60);
  EXPECT_FALSE(Refusal(agreed));
  agreed.earlier.push_back({.id = "a2", .from_start = false, .first = 10, .begun = 10});
  EXPECT_TRUE(Refusal(agreed));
}

TEST(RefusalOfLosses, LetsARunBeOfWhichOnlyTheReleaseIsLeft) {
  auto agreed = FromTheStart(2);
  agreed.earlier.push_back({.id = "a2", .from_start = false, .first = 10, .begun = 150});
  agreed.earlier.push_back({.id = "a3", .from_start = false, .first = 140, .begun = 150});
  agreed.earlier.push_back({.id = "a4", .from_start = false, .first = 150, .begun = 150});
  agreed.from = CheckpointName{.step = 150, .session = "a3"};
  EXPECT_EQ(LostSteps(agreed), 20);
  std::vector<std::string> more{"training.lost_steps_max=0"};
  EXPECT_FALSE(Refusal(agreed, more));
  more.insert(more.end(), {"evaluation.holder=0", "evaluation.rows=100"});
  EXPECT_FALSE(Refusal(agreed, more));
  more.emplace_back("evaluation.sigma=25.0");  // is charged each time
  EXPECT_TRUE(Refusal(agreed, more));
  agreed.from->counted = true;  // nothing is left to be charged
  EXPECT_FALSE(Refusal(agreed, more));
  agreed.from = CheckpointName{.step = 140, .session = "a2"};
  EXPECT_TRUE(Refusal(agreed, {"training.lost_steps_max=0"}));
}

/// A run behind its last step, which these sessions after the first have begun to evaluate and lost.
AgreedRun Evaluated(int sessions) {
  AgreedRun agreed{.run_id = "a0", .from = CheckpointName{.step = 150, .session = "a0"}, .earlier = {}};
  agreed.earlier.push_back({.id = "a0", .from_start = true, .first = 0, .begun = 150, .evaluated = true});
  for (int k = 1; k < sessions; ++k) {
    agreed.earlier.push_back({.id = fmt::format("a{}", k), .from_start = false, .first = 150, .begun = 150});
    agreed.earlier.back().evaluated = true;
  }
  return agreed;
}

// One full disk behind the last step: every session made a noisy evaluation more.
TEST(RefusalOfLosses, EndsALoopThatLosesEvaluations) {
  std::vector<std::string> more{"evaluation.holder=0", "evaluation.rows=100"};
  EXPECT_FALSE(Refusal(Evaluated(2), more));  // an exact count is not charged
  more.emplace_back("evaluation.sigma=25.0");
  EXPECT_FALSE(Refusal(Evaluated(1), more));
  const auto refusal = Refusal(Evaluated(2), more);
  ASSERT_TRUE(refusal);
  EXPECT_THAT(*refusal, HasSubstr("found 0 lost steps, and 2 evaluations that were lost, too, which take "));
  EXPECT_THAT(*refusal, HasSubstr("expected at most 15 lost steps and one of anything else, or run "));
  auto agreed = Evaluated(2);
  agreed.again = true;
  EXPECT_FALSE(Refusal(agreed, more));
  agreed.again = false;
  agreed.from->counted = true;
  EXPECT_FALSE(Refusal(agreed, more));
}

// All three cannot write their first checkpoint: every session opened the noisy counts once more.
TEST(RefusalOfLosses, EndsALoopThatLosesWhatIsReleasedBeforeTheFirstStep) {
  const auto lose = [](int sessions) {
    auto agreed = FromTheStart(sessions);
    for (auto& session : agreed.earlier) session.begun = 0;
    return agreed;
  };
  const std::vector<std::string> more{R"(model.class_weights="balanced")"};
  EXPECT_FALSE(Refusal(lose(7)));
  EXPECT_FALSE(Refusal(lose(1), more));
  const auto refusal = Refusal(lose(2), more);
  ASSERT_TRUE(refusal);
  EXPECT_THAT(*refusal, HasSubstr("found 0 lost steps, and 2 releases before the first step that were lost"));
}

TEST(LostReleases, AreThoseThatTheRunDoesNotGoOnFrom) {
  const jobs::JobSteps charged{.count = 150, .charged_before = true, .charged_after = true};
  EXPECT_EQ(LostReleasesOf({.count = 150}, FromTheStart(3)).count(), 0);
  EXPECT_EQ(ToText(LostReleasesOf(charged, {})), "");
  EXPECT_EQ(ToText(LostReleasesOf(charged, FromTheStart(1))), "1 release before the first step");
  auto agreed = Evaluated(3);
  EXPECT_EQ(ToText(LostReleasesOf(charged, agreed)), "3 evaluations");
  agreed.earlier.front().from_start = agreed.earlier.back().from_start = true;
  EXPECT_EQ(ToText(LostReleasesOf(charged, agreed)), "1 release before the first step and 3 evaluations");
  agreed.from->counted = true;
  EXPECT_EQ(LostReleasesOf(charged, agreed).evaluations, 2);
}

TEST(RefusalOfLosses, GoesByTheJobsLimitAndByWhatAllThreeWereTold) {
  EXPECT_FALSE(Refusal(FromTheStart(2), {"training.lost_steps_max=20"}));
  EXPECT_TRUE(Refusal(FromTheStart(2), {"training.lost_steps_max=19"}));
  EXPECT_TRUE(Refusal(FromTheStart(2), {"training.lost_steps_max=0"}));
  auto agreed = FromTheStart(7);
  agreed.again = true;
  EXPECT_FALSE(Refusal(agreed));
}

}  // namespace
}  // namespace trefoil::runtime
