#include "jobs/dpsgd/deposited_batches.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "dp/mechanisms/truncated_poisson.h"
#include "jobs/dpsgd/job.h"
#include "jobs/dpsgd/settings/training_settings.h"
#include "jobs/job.h"
#include "ml/plan/step_plan.h"
#include "tests/apps/temporary_folder.h"
#include "tests/jobs/edit_case.h"
#include "tests/support/error_text.h"

namespace trefoil::jobs {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing_support::ErrorText;

constexpr const char* kBatchesJob = R"(version = 1
type = "dpsgd"
name = "visits"
[data]
name = "visits"
format = "csv"
source = "store"
capacity = 1000
classes = 2
[[data.column]]
name = "a"
[data.label]
column = "y"
values = ["no", "yes"]
[batches]
run = "spring"
deposits = 10
records = 300
[training]
steps = 50
expected_batch = 100
learning_rate = 1
[privacy]
sigma = 2
delta = 1e-5
clip = 1
sampling = "deposited"
)";

DpsgdSettings ReadBatchesJob(const std::string& text) {
  const TemporaryFolder folder;
  return ReadDpsgdSettings(folder.Write("job.toml", text));
}

TEST(DepositedBatches, AreWhatAnOwnerIsToldOfThem) {
  const auto settings = ReadBatchesJob(kBatchesJob);
  const auto job = MakeDpsgdJob(settings);
  const auto& batches = job->Records()->store.batches.value();
  EXPECT_EQ(batches.run, "spring");
  EXPECT_EQ(batches.job, HashOf(*job)) << "of a job that names no study";
  EXPECT_EQ(batches.steps, 50);
  EXPECT_EQ(batches.sampling_rate, 0.1);
  EXPECT_EQ(batches.records, 300);
  // The least that leaves most of delta, for one owner's records and not for all of them.
  EXPECT_EQ(batches.rows, settings.training.max_batch_per_owner);
  EXPECT_GT(batches.rows, 30);
  EXPECT_LT(batches.rows, 80);
  EXPECT_LT(50 * dp::PoissonOverflowProbability(299, 0.1, batches.rows - 1), 0.5e-5);

  // A study names the job that was there before it.
  const auto named = MakeDpsgdJob(ReadBatchesJob(
      Replaced(kBatchesJob, "capacity", "study = \"" + std::string(64, 'a') + "\"\ncapacity")));
  EXPECT_NE(HashOf(*named), HashOf(*job));
  EXPECT_EQ(named->Records()->store.batches->job, batches.job);
  const auto summer = MakeDpsgdJob(ReadBatchesJob(Replaced(kBatchesJob, "spring", "summer")));
  EXPECT_NE(summer->Records()->store.batches->job, batches.job);
  EXPECT_EQ(HashOf(*ParseJob(job->Json(), "x")), HashOf(*job));
  const TemporaryFolder folder;
  EXPECT_EQ(HashOf(*ReadJob(folder.Write("again.toml", TomlOf(*job)))), HashOf(*job));
}

TEST(DepositedBatches, ArePlannedForAllDepositsThatThereIsRoomFor) {
  const auto job = MakeDpsgdJob(ReadBatchesJob(kBatchesJob));
  const auto& batches = job->Records()->store.batches.value();
  const auto plan = ml::MakeStepPlan(SettingsOf(ReadBatchesJob(kBatchesJob)));
  EXPECT_EQ(plan.batch_rows, 10 * batches.rows);
  const auto steps = std::get<dp::DpSgdSteps>(job->Events().at(0));
  EXPECT_EQ(steps.sampling, dp::SamplingMode::kDeposited);
  EXPECT_EQ(steps.limits.capacity, (std::array<std::int64_t, 3>{300, 0, 0}));
  EXPECT_EQ(steps.limits.max_batch, (std::array<std::int64_t, 3>{batches.rows, 0, 0}));
  EXPECT_EQ(job->Plan({}).apart, "");
  // At parties 1 and 2 words in place of seeds: a feature of 19 bits in three bytes, a mask bit, a label.
  const auto memory = job->Plan({}).memory.value();
  EXPECT_EQ(memory[1] - memory[0], static_cast<double>(50 * 10 * batches.rows * (3 + 16)));
  const auto whole = MakeDpsgdJob(
      ReadBatchesJob(Replaced(kBatchesJob, "= 1\n[privacy]", "= 1\nmax_batch_per_owner = 5000\n[privacy]")));
  EXPECT_EQ(whole->Records()->store.batches->rows, 300) << "no more than an owner has records";
}

TEST(DepositedBatches, RefuseWhatDoesNotFit) {
  const EditCase cases[] = {
      {"no_run", "run = \"spring\"\n", "", "missing batches.run"},
      {"run", "\"spring\"", "\"a b\"", "batches.run: found \"a b\""},
      {"deposits", "deposits = 10", "deposits = 0", "batches.deposits: found 0"},
      {"records", "records = 300", "records = 1001", "batches.records: found 1001, expected at most 1000"},
      {"sampling", "\"deposited\"", "\"full\"",
       "batches: found it, which only privacy.sampling \"deposited\" has"},
      {"files", "source = \"store\"\ncapacity = 1000", "rows = [300, 300, 400]",
       "privacy.sampling: found \"deposited\", expected data.source \"store\""},
      {"small", "[privacy]", "max_batch_per_owner = 30\n[privacy]",
       "training.max_batch_per_owner: found 30, expected more than 30.0"},
      {"groups", "clip = 1", "clip = 1\nunit = \"group\"\ngroup_column = \"a\"\nmax_group_rows = 2",
       "privacy.unit: found \"group\", expected \"record\" with data.source \"store\""},
  };
  for (const auto& [name, from, to, expected] : cases)
    EXPECT_THAT(ErrorText<ConfigError>([&] { (void)ReadBatchesJob(Replaced(kBatchesJob, from, to)); }),
                HasSubstr(expected))
        << name;
  const auto calibrated =
      Replaced(Replaced(kBatchesJob, "sigma", "epsilon"), "[privacy]", "max_batch_per_owner = 40\n[privacy]");
  EXPECT_THAT(ErrorText<ConfigError>([&] { (void)MakeDpsgdJob(ReadBatchesJob(calibrated))->Events(); }),
              HasSubstr("training.max_batch_per_owner: found 40, expected at least "));
  EXPECT_THAT(ErrorText<ConfigError>([&] { (void)MakeDpsgdJob(ReadBatchesJob(calibrated))->Events(); }),
              Not(HasSubstr("for party")));
}

}  // namespace
}  // namespace trefoil::jobs
