// The jobs of configs/, as users start from them.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <vector>

#include "jobs/dpsgd/settings/settings.h"
#include "jobs/dpsgd/settings/training_settings.h"
#include "jobs/job.h"
#include "tests/apps/temporary_folder.h"

namespace trefoil::apps {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> JobsOfTheProject() {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(TREFOIL_SOURCE_DIR "/configs"))
    files.push_back(entry.path());
  return files;
}

TEST(Configs, CanBeRunAndKeepTheirEpsilon) {
  const auto files = JobsOfTheProject();
  EXPECT_GE(files.size(), 6U);
  for (const auto& file : files) {
    SCOPED_TRACE(file.string());
    if (jobs::ReadJob(file)->type() != std::string("dpsgd")) continue;
    const jobs::DpsgdSettings job = jobs::ReadDpsgdSettings(file);
    EXPECT_EQ(job.name, file.stem().string());
    EXPECT_EQ(jobs::PrivacyWarnings(job).size(), job.data.vertical ? 1U : 0U);
    ASSERT_TRUE(job.privacy.epsilon);
    const auto plan = ml::MakePlan(jobs::SettingsOf(job));
    const double epsilon =
        job.privacy.against == ml::Adversary::kOutsider ? plan.epsilon_outsider : plan.epsilon_insider;
    EXPECT_LE(epsilon, *job.privacy.epsilon);
    EXPECT_GE(epsilon, 0.99 * *job.privacy.epsilon);
  }
}

TEST(Configs, ReadBackAsTheyAreSaved) {
  int without_steps = 0;
  for (const auto& file : JobsOfTheProject()) {
    SCOPED_TRACE(file.string());
    const auto job = jobs::ReadJob(file);
    if (job->Steps().count == 0) ++without_steps;
    EXPECT_EQ(job->name(), file.stem().string());
    const auto epsilons = job->Epsilons();
    EXPECT_GT(epsilons.outsider, 0);
    EXPECT_LE(epsilons.outsider, epsilons.insider);
    if (job->Steps().count == 0) {
      EXPECT_LT(epsilons.insider, 10);
    }
    const TemporaryFolder folder;
    const auto saved = folder.path() / "job.toml";
    std::ofstream(saved) << jobs::TomlOf(*job);
    EXPECT_EQ(jobs::HashOf(*jobs::ReadJob(saved)), jobs::HashOf(*job));
    EXPECT_EQ(jobs::TomlOf(*jobs::ReadJob(saved)), jobs::TomlOf(*job));
  }
  EXPECT_GE(without_steps, 2);
}

// The figures that their comments and docs/explanation/experiments.md say.
TEST(Configs, PateByConfidentGnMaxHasTheEpsilonsOfOneGaussian) {
  for (const char* name : {"mnist-pate.toml", "pate.toml"}) {
    const auto epsilons = jobs::ReadJob(fs::path(TREFOIL_SOURCE_DIR "/configs") / name)->Epsilons();
    EXPECT_NEAR(epsilons.insider, 2.543, 0.0006);
    EXPECT_NEAR(epsilons.outsider, 2.0255, 0.0006);
    EXPECT_LT(epsilons.error, 1e-9);
  }
}

TEST(Configs, MnistPeaPaysForLocalTrainingAndHalvesTheSteps) {
  const auto settings = [](const char* name) {
    return jobs::SettingsOf(jobs::ReadDpsgdSettings(fs::path(TREFOIL_SOURCE_DIR "/configs") / name));
  };
  const auto with = settings("mnist-pea.toml");
  auto without = settings("mnist-hog.toml");
  ASSERT_TRUE(with.initialisation);
  EXPECT_EQ(with.target_epsilon, without.target_epsilon);
  EXPECT_LE(2 * with.steps, without.steps);

  // The same steps from zero weights leave more of the budget to each: the local training is in the plan.
  without.steps = with.steps;
  EXPECT_GT(ml::MakePlan(with).sigma, 1.05 * ml::MakePlan(without).sigma);
}

}  // namespace
}  // namespace trefoil::apps
