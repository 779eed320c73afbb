#include "jobs/dpsgd/settings_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "jobs/dpsgd/canaries.h"
#include "jobs/dpsgd/job.h"
#include "jobs/dpsgd/training_settings.h"
#include "jobs/job.h"
#include "tests/apps/temporary_folder.h"
#include "tests/jobs/edit_case.h"

namespace trefoil::jobs {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kTargetJob = R"(version = 1
type = "dpsgd"
name = "rents"
[data]
name = "rents"
format = "csv"
rows = [10, 20, 30]
[[data.column]]
name = "area"
[data.target]
column = "rent"
low = -3
high = 29.5
[model]
loss = "squared"
[training]
steps = 5
expected_batch = 12
max_batch_per_owner = 20
learning_rate = 1
[privacy]
sigma = 1.5
delta = 1e-5
clip = 1
)";

DpsgdSettings ReadTargets(const std::string& text, const std::vector<std::string>& assignments = {}) {
  const TemporaryFolder folder;
  return ReadDpsgdSettings(folder.Write("x.toml", text), assignments);
}

TEST(TargetJob, IsOfOneNumberInPlaceOfClassesAndReadsBack) {
  const auto job = ReadTargets(kTargetJob);
  EXPECT_EQ(job.data.target, (data::TargetRange{-3, 29.5}));
  EXPECT_EQ(job.data.label.column, "rent");
  EXPECT_EQ(job.data.features, 1);
  const auto settings = SettingsOf(job);
  EXPECT_TRUE(settings.targets);
  EXPECT_EQ(settings.classes, 2);  // one column
  const auto json = DpsgdJson(job);
  EXPECT_THAT(json, HasSubstr(R"("target":{"column":"rent","high":29.5,"low":-3.0})"));
  EXPECT_THAT(json, Not(HasSubstr("classes")));
  EXPECT_THAT(json, Not(HasSubstr("label\"")));
  EXPECT_EQ(DpsgdHash(ParseDpsgdJson(json, "x")), DpsgdHash(job));
  EXPECT_EQ(DpsgdHash(ReadTargets(TomlOf(*MakeDpsgdJob(job)))), DpsgdHash(job));
  EXPECT_EQ(job.data.target, ModelSchemaOf(job).records.data.target);
  // Of arrays, y is the target.
  const auto arrays = Replaced(Replaced(Replaced(kTargetJob, "\"csv\"", "\"npy\"\nfeatures = 2"),
                                        "[[data.column]]\nname = \"area\"\n", ""),
                               "column = \"rent\"\n", "");
  EXPECT_EQ(ReadTargets(arrays).data.target, (data::TargetRange{-3, 29.5}));
}

TEST(TargetJob, RefusesWhatNeedsClasses) {
  const std::string evaluation = "[evaluation]\nholder = 0\nrows = 9\n";
  const std::string initialisation =
      "[initialisation]\nmethod = \"accuracy\"\nsteps = 2\nexpected_batch = 3\nlearning_rate = 1\nsigma = "
      "1\n";
  const EditCase cases[] = {
      {"classes", "rows = [10", "classes = 3\nrows = [10", "data.classes: found it beside [data.target]"},
      {"label", "[model]", "[data.label]\ncolumn = \"a\"\nvalues = [\"b\", \"c\"]\n[model]",
       "data.label: found it beside [data.target]"},
      {"loss", "\"squared\"", "\"softmax\"", "expected \"squared\" with [data.target]"},
      {"no_loss", "loss = \"squared\"\n", "", "expected \"squared\" with [data.target]"},
      {"huber", "\"squared\"", "\"huber\"", "whose gradients privacy.clip shortens"},
      {"poisson", "\"squared\"", "\"poisson\"", "an exponential of the logit has no bound"},
      {"range", "high = 29.5", "high = -3.0", "data.target.high: found -3"},
      {"no_range", "high = 29.5", "", "missing data.target.high"},
      {"no_column", "column = \"rent\"\n", "", "missing data.target.column"},
      {"evaluation", "[model]", evaluation + "[model]", "evaluation: not with [data.target]"},
      {"selection", "[model]", initialisation + "[model]", "\"none\" or \"averaging\" with [data.target]"},
      {"shares", "[model]", "[release]\nto = []\n[model]", "a party with [data.target]"},
  };
  for (const auto& [name, from, to, expected] : cases) {
    try {
      (void)ReadTargets(Replaced(kTargetJob, from, to));
      ADD_FAILURE() << name;
    } catch (const ConfigError& error) {
      EXPECT_THAT(error.what(), HasSubstr(expected)) << name;
    }
  }
  EXPECT_THROW(CheckAuditable(ReadTargets(kTargetJob), 10), ConfigError);
}

}  // namespace
}  // namespace trefoil::jobs
