#include "trefoil/job.h"

#include <gmock/gmock.h>

#include "jobs/job.h"
#include "tests/data/temporary_folder.h"

namespace trefoil {
namespace {

using testing::ElementsAre;

std::filesystem::path Config(const char* name) {
  return std::filesystem::path(TREFOIL_SOURCE_DIR) / "configs" / name;
}

TEST(Job, TellsWhatTheFileDeclares) {
  const auto job = Job::Read(Config("demo.toml"));
  EXPECT_EQ(job.name(), "demo");
  EXPECT_EQ(job.type(), "dpsgd");
  EXPECT_EQ(job.Hash(), jobs::HashOf(*jobs::ReadJob(Config("demo.toml"))));
  EXPECT_GT(job.PlannedEpsilons().insider, job.PlannedEpsilons().outsider);
  EXPECT_GT(job.PlannedEpsilons().outsider, 0);
  const auto costs = job.PlannedCosts();
  ASSERT_EQ(costs.size(), 2U);
  EXPECT_EQ(costs[0].form, "latency");
  EXPECT_LT(costs[0].rounds, costs[1].rounds);
  for (const auto bytes : costs[0].bytes_sent) EXPECT_GT(bytes, 0U);
}

TEST(Job, IsOfAnyType) {
  const auto job = Job::Read(Config("adult-histogram.toml"), {"release.to=[1]"});
  EXPECT_EQ(job.type(), "histogram");
  EXPECT_THAT(job.release_to(), ElementsAre(1));
  EXPECT_EQ(job.PlannedCosts().size(), 1U);
}

/// By these, and not by its type's name, Python knows what to bring.
TEST(Job, TellsWhatAProgramBringsAndWhatIsCounted) {
  const auto sums = Job::Read(Config("sum.toml"), {"sum.calls=7", "sum.sampling_rate=0.25"});
  const auto calls = sums.CallsOfProgram();
  EXPECT_EQ(calls.count, 7);
  EXPECT_EQ(calls.dimension, 100);
  EXPECT_EQ(calls.sampling_rate, 0.25);
  EXPECT_FALSE(calls.owners_sum);
  EXPECT_FALSE(sums.Counted());

  const auto histogram = Job::Read(Config("adult-histogram.toml"));
  EXPECT_EQ(histogram.Counted()->name, "occupation");
  EXPECT_EQ(histogram.Counted()->values.size(), 14U);
  EXPECT_THAT(
      data::ErrorText<ConfigError>([&] { (void)histogram.CallsOfProgram(); }),
      testing::HasSubstr("type: found \"histogram\", expected a job whose vectors a program can bring"));
}

TEST(Job, IsReadBackFromItsToml) {
  const data::TemporaryFolder folder;
  const auto job = Job::Read(Config("adult.toml"));
  EXPECT_EQ(Job::Read(folder.Put("job.toml", job.Toml())).Json(), job.Json());
}

TEST(Job, IsReadBackFromItsJson) {
  const auto job = Job::Read(Config("adult.toml"));
  EXPECT_EQ(Job::Parse(job.Json()).Hash(), job.Hash());
  EXPECT_EQ(data::ErrorText<ConfigError>([] { (void)Job::Parse("[]", "keys"); }),
            "keys: the job is not valid: found no JSON object");
}

TEST(Job, HasASchemaForEveryType) {
  const auto types = Job::Types();
  EXPECT_THAT(types, testing::Contains("dpsgd"));
  for (const auto& type : types) EXPECT_EQ(Job::Schema(type), jobs::JobSchema(type));
}

TEST(Job, NamesTheKeyThatIsWrong) {
  EXPECT_THAT(
      data::ErrorText<ConfigError>([] { (void)Job::Read(Config("demo.toml"), {"training.stepps=1"}); }),
      testing::HasSubstr("did you mean training.steps?"));
}

}  // namespace
}  // namespace trefoil
