#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "jobs/job.h"
#include "tests/apps/temporary_folder.h"
#include "tests/jobs/silent_output.h"
#include "tests/support/run_parties.h"
#include "trefoil/run.h"

namespace trefoil::jobs {
namespace {

using testing::ElementsAre;

constexpr const char* kResumedJob = R"(
version = 1
type = "sum"
name = "sums"
[data]
name = "sums"
rows = [1, 1, 1]
[sum]
dimension = 2
norm_bound = 1.0
calls = 3
[privacy]
sigma = 1.0
delta = 1e-5
)";

/// A run of which earlier sessions have begun so many calls; notes what it is told.
class ResumedOutput : public SilentOutput {
 public:
  explicit ResumedOutput(int begun) : begun_(begun) {}
  BegunCalls ResumeCalls(mpc::Context& /*party*/) override { return {.begun = begun_, .shared = begun_ / 2}; }
  void Reserve(const Events& /*plan*/, const Events& before) override {
    told.push_back(before.empty() ? "reserve" : "reserve what is charged");
  }
  void Settle(const Events& /*executed*/) override { told.emplace_back("settle"); }
  void BeginCall(int call) override { told.push_back("call " + std::to_string(call)); }

  std::vector<std::string> told{};

 private:
  int begun_;
};

/// Brings a vector of zeros for its one record.
class OneZero : public VectorProgram {
 public:
  [[nodiscard]] std::int64_t records() const override { return 1; }
  void Begins(std::int64_t begun, std::int64_t shared) override { begins = {begun, shared}; }
  bool Bring(std::int64_t call, std::span<const std::int64_t> /*rows*/, const Add& add) override {
    calls.push_back(call);
    add(std::vector<double>{0, 0});
    return true;
  }
  void Opened(std::int64_t /*call*/, std::span<const double> /*sum*/) override {}

  std::vector<std::int64_t> calls{};
  std::vector<std::int64_t> begins{};
};

struct Resumed {
  std::vector<std::int64_t> calls;   ///< of the program
  std::vector<std::int64_t> begins;  ///< what it was told of the first
  std::vector<std::string> told;
};

Resumed ResumedAfter(int begun) {
  const TemporaryFolder folder;
  const auto file = folder.Write("job.toml", kResumedJob);
  std::array<OneZero, 3> programs;
  const auto told = testing_support::RunParties(testing_support::Seed{3}, [&](mpc::Context& context) {
    const auto job = ReadJob(file);
    PartyFile party;
    party.id = context.self();
    job->TakeVectorsOf(programs.at(static_cast<std::size_t>(party.id)));
    (void)LoadInputs(*job, party, "party.toml", {.threads = 1});
    ResumedOutput output(begun);
    const auto result = job->Run(context, output);
    EXPECT_TRUE(result.files.empty());
    return output.told;
  });
  EXPECT_EQ(told[0], told[1]);
  return {.calls = programs[1].calls, .begins = programs[1].begins, .told = told[1]};
}

TEST(ResumedSums, BeginEveryCallBeforeItIsCharged) {
  const auto resumed = ResumedAfter(0);
  EXPECT_THAT(resumed.calls, ElementsAre(1, 2, 3));
  EXPECT_THAT(resumed.begins, ElementsAre(0, 0));
  EXPECT_THAT(resumed.told, ElementsAre("reserve", "call 0", "settle", "call 1", "call 2"));
}

TEST(ResumedSums, AreOfTheCallsThatAreLeft) {
  const auto resumed = ResumedAfter(1);
  EXPECT_THAT(resumed.calls, ElementsAre(2, 3));
  EXPECT_THAT(resumed.begins, ElementsAre(1, 0));
  EXPECT_THAT(resumed.told, ElementsAre("reserve what is charged", "call 1", "settle", "call 2"));
}

TEST(ResumedSums, AreChargedWhereNoneIsLeft) {
  const auto resumed = ResumedAfter(3);
  EXPECT_TRUE(resumed.calls.empty());
  EXPECT_THAT(resumed.told, ElementsAre("reserve what is charged", "settle"));
}

}  // namespace
}  // namespace trefoil::jobs
