#include "jobs/tune/settings.h"

#include <gtest/gtest.h>
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "base/error.h"
#include "dp/laws/trial_law.h"
#include "jobs/config/toml/tomlplusplus.h"
#include "jobs/job.h"
#include "jobs/records/row_norm.h"
#include "tests/apps/temporary_folder.h"
#include "tests/jobs/edit_case.h"

namespace trefoil::jobs {
namespace {

constexpr const char* kTrials = R"(
version = 1
type = "tune"
name = "tuned"
[data]
name = "points"
format = "csv"
rows = [60, 60, 60]
classes = 2
column = [{ name = "a" }, { name = "b" }]
label = { column = "c", values = ["no", "yes"] }
[training]
steps = 4
expected_batch = 90
max_batch_per_owner = 60
learning_rate = 4.0
momentum = 0.5
[privacy]
sigma = 2.0
delta = 1e-5
clip = 0.5
[evaluation]
holder = 1
rows = 60
sigma = 4.0
[tune]
)";

TuneSettings Settings(const std::string& tune) {
  TuneSettings job;
  job.type = "tune";
  ReadFields(toml::parse(kTrials + tune), "job.toml", job);
  return job;
}

TEST(TuneSettings, MakeATrialOfEveryCombination) {
  const auto job =
      Settings("learning_rate = [1.0, 2.0]\nclip = [0.25, 0.5, 1.0]\nsteps = [3, 5]\nrepeats = 2\n");
  EXPECT_EQ(CountTrials(job), 24);
  const auto trials = TrialsOf(job);
  ASSERT_EQ(trials.size(), 24U);
  std::vector<std::tuple<double, double, std::int64_t>> seen;
  for (const auto& trial : trials) {
    seen.emplace_back(trial.training.learning_rate, trial.privacy.clip, trial.training.steps);
    EXPECT_EQ(trial.training.momentum, 0.5);  // which has no list
    EXPECT_FALSE(trial.evaluation);
    EXPECT_TRUE(trial.release.to.empty());
  }
  std::sort(seen.begin(), seen.end());
  for (std::size_t k = 0; k < seen.size(); k += 2) EXPECT_EQ(seen[k], seen[k + 1]);
  EXPECT_EQ(std::unique(seen.begin(), seen.end()) - seen.begin(), 12);
}

TEST(TuneSettings, HaveTheRowNormOfATrainingUnlessTheySayOne) {
  std::string text = std::string(kTrials) + "learning_rate = [1.0, 2.0]\n";
  const std::string last = R"({ name = "b" })";
  text.insert(text.find(last) + last.size(), R"(, { name = "d" }, { name = "e" })");
  TuneSettings job;
  ReadFields(toml::parse(text), "job.toml", job);
  EXPECT_EQ(job.features.row_norm, UsualRowNorm(job.data, false));
  EXPECT_GT(job.features.row_norm, 1);
}

TEST(TuneSettings, LetAThirdCompeteUnlessTheySayHowMany) {
  EXPECT_NEAR(dp::MeanTrials(SelectionOf(Settings("repeats = 6\n")).weights), 2, 1e-8);
  EXPECT_NEAR(dp::MeanTrials(SelectionOf(Settings("repeats = 2\n")).weights), 2, 1e-8);
  EXPECT_NEAR(dp::MeanTrials(SelectionOf(Settings("repeats = 6\ncompeting = 4.5\n")).weights), 4.5, 1e-8);
  const auto selection = SelectionOf(Settings("repeats = 3\n"));
  EXPECT_EQ(selection.test.holder, 1);
  EXPECT_EQ(selection.test.rows, 60);
  EXPECT_EQ(selection.sigma, 4);
}

TEST(TuneSettings, HaveAsManyStepsInAllAsOneTrainingMay) {
  EXPECT_EQ(CountTrials(Settings("steps = [250000]\nrepeats = 2\n")), 2);
  EXPECT_THROW((void)Settings("steps = [250000, 250001]\n"), ConfigError);
}

// One multiplier is calibrated for all trials, far above what the shortest would have by itself.
TEST(TuneSettings, ArePlannedWithTheNoiseThatAllTrialsHave) {
  const TemporaryFolder folder;
  const auto planned = [&](const std::string& noise) {
    std::string text = kTrials;
    text.replace(text.find("sigma = 2.0"), 11, noise);
    return ReadJob(folder.Write("job.toml", text + "steps = [4, 4000]\n"))->Plan({});
  };
  const JobPlan calibrated = planned("epsilon = 0.5");
  const double sigma = calibrated.figures.at("sigma");
  EXPECT_GT(sigma, 50);
  const JobPlan given = planned(fmt::format("sigma = {:.12f}", sigma));
  ASSERT_EQ(calibrated.forms.size(), given.forms.size());
  for (std::size_t k = 0; k < given.forms.size(); ++k)
    EXPECT_EQ(calibrated.forms[k].cost.bytes_sent, given.forms[k].cost.bytes_sent);
}

TEST(TuneSettings, RefuseAClipThatAdapts) {
  const auto text = Replaced(kTrials + std::string("repeats = 2\n"), "clip = 0.5", "clip = \"adaptive\"");
  try {
    TuneSettings job;
    ReadFields(toml::parse(text), "job.toml", job);
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_NE(
        std::string(error.what()).find("privacy.clip: found \"adaptive\", expected a number in a tuning"),
        std::string::npos)
        << error.what();
  }
}

TEST(TuneSettings, HaveNobodyToOpenCountsTo) {
  EXPECT_TRUE(Settings("repeats = 2\n").evaluation->to.empty());
}

}  // namespace
}  // namespace trefoil::jobs
