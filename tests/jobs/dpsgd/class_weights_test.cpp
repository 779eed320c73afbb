#include "jobs/dpsgd/class_weights.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "jobs/dpsgd/settings/training_settings.h"
#include "ml/noise/class_balance.h"
#include "ml/plan/step_plan.h"
#include "tests/apps/temporary_folder.h"

namespace trefoil::jobs {
namespace {

constexpr const char* kBalanced = R"(version = 1
type = "dpsgd"
name = "balanced"
[data]
name = "balanced"
format = "idx"
rows = [20, 20, 20]
features = 4
classes = 3
[model]
class_weights = "balanced"
class_counts_sigma = 10.0
[training]
steps = 30
expected_batch = 12
max_batch_per_owner = 20
learning_rate = 1
[privacy]
sigma = 1.5
delta = 1e-5
clip = 0.5
accountant = "rdp"
)";

/// What a run says of counts that it opened so often.
JobResult BalancedResult(int openings) {
  const TemporaryFolder folder;
  const auto settings = SettingsOf(ReadDpsgdSettings(folder.Write("job.toml", kBalanced)));
  ml::TrainingResult trained{.plan = {}, .record = {}, .model = {}};
  trained.class_counts = {78, -3, 12};
  trained.class_weights = {0.5, 1, 1};
  const auto counts = ml::ClassCountEvents(ml::MakeStepPlan(settings)).at(0);
  for (int k = 0; k < openings; ++k) trained.record.events.push_back(counts);
  trained.record.events.emplace_back(
      dp::GaussianReleases{.count = 1, .coordinates = 3, .sigma = 0.1, .party_deviation = 1000});
  JobResult result;
  AddClasses(trained, settings, 1e-5, result);
  return result;
}

/// The epsilons are those of docs/howto/rare_classes.md, to the two digits that it has.
TEST(AddClasses, SaysTheCountsAndWhatTheyWereCharged) {
  const auto result = BalancedResult(1);
  EXPECT_EQ(result.summary.at("class_counts").dump(), "[78,-3,12]");
  EXPECT_EQ(result.summary.at("class_weights").dump(), "[0.5,1.0,1.0]");
  const auto& charge = result.summary.at("class_counts_charge");
  EXPECT_EQ(charge.at("sigma").get<double>(), 10);
  EXPECT_EQ(charge.at("releases").get<int>(), 1);
  EXPECT_NEAR(charge.at("epsilon_outsider").get<double>(), 0.31, 0.01);
  EXPECT_NEAR(charge.at("epsilon_insider").get<double>(), 0.38, 0.01);
  ASSERT_EQ(result.values.size(), 3U);
  EXPECT_EQ(result.values[1].name, "class_counts.1");
  EXPECT_EQ(result.values[1].value, -3);
  ASSERT_EQ(result.lines.size(), 1U);
  EXPECT_THAT(result.lines[0],
              testing::HasSubstr("classes counted with noise: 78, -3, 12; by themselves epsilon 0.3"));
}

/// Two releases of one multiplier are one of the multiplier over the root of two, whose epsilon is above 1.4
/// times as much less a little: at least a fourth more.
TEST(AddClasses, ChargesCountsThatWereOpenedTwiceForBoth) {
  const auto once = BalancedResult(1).summary.at("class_counts_charge");
  const auto twice = BalancedResult(2).summary.at("class_counts_charge");
  EXPECT_EQ(twice.at("releases").get<int>(), 2);
  for (const char* key : {"epsilon_outsider", "epsilon_insider"})
    EXPECT_GT(twice.at(key).get<double>(), 1.25 * once.at(key).get<double>()) << key;
}

}  // namespace
}  // namespace trefoil::jobs
