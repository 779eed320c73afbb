#include "jobs/dpsgd/evaluation_summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spdlog/fmt/fmt.h>

#include "tests/apps/temporary_folder.h"

namespace trefoil::jobs {
namespace {

using testing::ElementsAre;

constexpr const char* kTwoClasses = R"(version = 1
type = "dpsgd"
name = "two"
[data]
name = "two"
format = "csv"
rows = [20, 20, 20]
classes = 2
label = {{ column = "y", values = ["no", "yes"] }}
[[data.column]]
name = "a"
[model]
loss = "{}"
[training]
steps = 3
expected_batch = 12
max_batch_per_owner = 20
learning_rate = 1
[privacy]
sigma = 1.5
delta = 1e-5
clip = 0.5
)";

ShownResults ShownOf(const char* loss, const nlohmann::ordered_json& auc) {
  const TemporaryFolder folder;
  const auto job = ReadDpsgdSettings(folder.Write("job.toml", fmt::format(kTwoClasses, loss)));
  return ShownEvaluation(job, {{"histogram", {{40, 10}, {5, 30}}}, {"auc", auc}});
}

std::vector<std::string> PlotsOf(const ShownResults& shown) {
  std::vector<std::string> titles;
  for (const auto& plot : shown.plots) titles.push_back(plot.title);
  return titles;
}

TEST(ShownEvaluation, PlotsWhatCanBeSaid) {
  EXPECT_THAT(PlotsOf(ShownOf("one-vs-rest", 0.9)), ElementsAre("ROC, on shares", "Calibration, on shares"));
  EXPECT_THAT(PlotsOf(ShownOf("squared", 0.9)), ElementsAre("ROC, on shares"));
  const auto noise = ShownOf("one-vs-rest", nullptr);
  EXPECT_THAT(PlotsOf(noise), ElementsAre());
  EXPECT_EQ(noise.tables.size(), 1U);
}

}  // namespace
}  // namespace trefoil::jobs
