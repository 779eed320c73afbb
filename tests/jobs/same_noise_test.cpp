#include "jobs/same_noise.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "jobs/job.h"
#include "protocols/measure.h"
#include "tests/apps/temporary_folder.h"
#include "tests/jobs/silent_output.h"
#include "tests/support/error_text.h"
#include "tests/support/protocol_test.h"
#include "tests/support/thread_ranks.h"

namespace trefoil::jobs {
namespace {

using testing::HasSubstr;
using testing_support::ErrorText;
using testing_support::Seed;

/// Fails where a job goes further than to compare.
class UntouchedOutput : public SilentOutput {
 public:
  void Reserve(const Events& /*plan*/, const Events& /*before*/) override { ADD_FAILURE() << "reserved"; }
  void ChargeTo(const std::vector<Population>& /*populations*/) override { ADD_FAILURE() << "charged"; }
  void Settle(const Events& /*executed*/) override { ADD_FAILURE() << "settled"; }
};

/// Fails where a job takes deposits.
class UntouchedRecords : public SharedRecords {
 public:
  std::string Load(const RecordSchema& /*records*/) override { return ""; }
  std::vector<Population> Populations() override { return {}; }
  Checked Share(mpc::Context& /*party*/, const CapOf& /*cap*/, const std::string& /*run*/) override {
    throw ContractError("took deposits");
  }
  std::string SealForOwner(const PartForOwner& /*part*/) override { return ""; }
};

/// A job, and the text in it that makes the noise, with another that is a little apart.
struct NoisyJob {
  const char* name;
  const char* text;
  const char* noise;
  const char* other;
};

std::ostream& operator<<(std::ostream& out, const NoisyJob& job) { return out << job.name; }

constexpr const char* kSigma = "sigma = 0.5";
constexpr const char* kOtherSigma = "sigma = 0.50000095367431640625";  // and 2^-20

constexpr std::array kJobs{
    NoisyJob{"sum", R"(
[sum]
dimension = 3
norm_bound = 1.0
[data]
name = "x"
rows = [1, 1, 1]
[privacy]
sigma = 0.5
delta = 1e-5
)",
             kSigma, kOtherSigma},
    // In which no charge shows it: by a unit of 2^-30.
    NoisyJob{"sum", R"(
[sum]
dimension = 3
norm_bound = 1.0
fraction_bits = 30
[data]
name = "x"
rows = [1, 1, 1]
[privacy]
sigma = 0.5
delta = 1e-5
)",
             "norm_bound = 1.0", "norm_bound = 1.000000000931322574615478515625"},
    NoisyJob{"sum", R"(
[sum]
dimension = 3
norm_bound = 1.0
[data]
name = "x"
source = "store"
capacity = 20
[privacy]
sigma = 0.5
delta = 1e-5
)",
             kSigma, kOtherSigma},
    NoisyJob{"dpsgd", R"(
[data]
name = "x"
format = "csv"
source = "store"
capacity = 1000
classes = 2
column = [{ name = "a" }]
label = { column = "y", values = ["x", "y"] }
[batches]
run = "spring"
deposits = 10
records = 300
[training]
steps = 4
expected_batch = 100
learning_rate = 1.0
[privacy]
sigma = 2.0
delta = 1e-5
clip = 1.0
sampling = "deposited"
)",
             "sigma = 2.0", "sigma = 2.00000095367431640625"},
    NoisyJob{"statistics", R"(
[data]
name = "x"
format = "csv"
rows = [20, 20, 20]
column = [{ name = "a", low = 0, high = 1 }]
[privacy]
sigma = 0.5
delta = 1e-5
)",
             kSigma, kOtherSigma},
    NoisyJob{"least-squares", R"(
[data]
name = "x"
format = "csv"
rows = [20, 20, 20]
classes = 2
column = [{ name = "a" }]
label = { column = "y", values = ["x", "y"] }
[privacy]
sigma = 0.5
delta = 1e-5
)",
             kSigma, kOtherSigma},
    NoisyJob{"histogram", R"(
[data]
name = "x"
format = "csv"
rows = [20, 20, 20]
[histogram]
mode = "central"
noise = "gaussian"
column = "y"
values = ["x", "y"]
[privacy]
sigma = 0.5
delta = 1e-5
)",
             kSigma, kOtherSigma},
    NoisyJob{"ensemble-transfer", R"(
[ensemble]
owners = [4, 0, 3]
queries = 12
features = 2
lambda = 0.1
steps = 20
[privacy]
sigma = 0.5
delta = 1e-5
)",
             kSigma, kOtherSigma},
    NoisyJob{"ensemble-transfer", R"(
[ensemble]
owners = [4, 0, 3]
queries = 12
features = 2
lambda = 0.1
steps = 20
noise = "published"
[privacy]
epsilon = 4.0
delta = 1e-5
)",
             "epsilon = 4.0", "epsilon = 4.00000095367431640625"},
    NoisyJob{"classifier-average", R"(
[data]
name = "x"
format = "csv"
rows = [20, 20, 20]
classes = 2
column = [{ name = "a" }]
label = { column = "y", values = ["x", "y"] }
[owners]
count = [2, 1, 1]
least_rows = 5
[average]
lambda = 0.1
tolerance = 1e-8
[privacy]
epsilon = 40.0
delta = 1e-6
)",
             "epsilon = 40.0", "epsilon = 39.999"},
    NoisyJob{"tune", R"(
[data]
name = "x"
format = "csv"
rows = [60, 60, 60]
classes = 2
column = [{ name = "a" }]
label = { column = "y", values = ["x", "y"] }
[training]
steps = 4
expected_batch = 90
max_batch_per_owner = 60
learning_rate = 4.0
[privacy]
sigma = 2.0
delta = 1e-5
clip = 0.5
[evaluation]
holder = 1
rows = 60
sigma = 4.0
[tune]
repeats = 3
)",
             "sigma = 2.0", "sigma = 2.00000095367431640625"},
};

class NoisyJobTest : public testing::TestWithParam<NoisyJob> {};

/// No job has read its data: whatever of them it shared or opened, it would fail otherwise.
TEST_P(NoisyJobTest, EndsBeforeAnythingElseWhereAPartyDrawsOtherNoise) {
  const TemporaryFolder folder;
  const std::string head = std::string("version = 1\ntype = \"") + GetParam().name + "\"\nname = \"x\"\n";
  std::string text = head + GetParam().text;
  const auto file = folder.Write("job.toml", text);
  text.replace(text.find(GetParam().noise), std::string(GetParam().noise).size(), GetParam().other);
  const auto other = folder.Write("other.toml", text);
  for (int odd = 0; odd < net::kParties; ++odd) {
    std::array<std::uint64_t, net::kParties> sent{};
    const auto transports = net::MakeLocalTransports(testing_support::kPartyPatience);
    const auto ends = testing_support::EndsOver(
        transports, [](int self) { return testing_support::InsecurePrss(Seed{2}, self); },
        [&](mpc::Context& party) {
          const auto job = ReadJob(party.self() == odd ? other : file);
          UntouchedRecords records;
          if (job->WantsStore()) job->TakeRecordsOf(records);
          UntouchedOutput output;
          (void)job->Run(party, output);
        });
    for (std::size_t self = 0; self < ends.size(); ++self) {
      ASSERT_TRUE(ends.at(self));
      EXPECT_THAT(ErrorText<ConfigError>([&] { std::rethrow_exception(ends.at(self)); }),
                  HasSubstr("derived other constants of the noise than this party"));
      sent.at(self) = transports.at(self)->counters().bytes_sent;
    }
    EXPECT_EQ(sent, RequireSameNoiseCost().bytes_sent());
  }
}

INSTANTIATE_TEST_SUITE_P(Types, NoisyJobTest, testing::ValuesIn(kJobs));

std::vector<dp::RecordedEvent> NoiseOf(double sigma) {
  return {dp::GaussianReleases{.count = 1, .coordinates = 3, .sigma = sigma, .party_deviation = 100}};
}

TEST(RequireSameNoise, PassesOnTheSameAtItsDeclaredCost) {
  const auto costs = testing_support::RunParties(Seed{3}, [](mpc::Context& party) {
    return protocols::Measure(party, [&] { RequireSameNoise(party, NoiseOf(0.5), {7, 8}); });
  });
  EXPECT_EQ(testing_support::Figures(costs), testing_support::Figures(RequireSameNoiseCost()));
}

TEST(RequireSameNoise, ComparesEveryNumber) {
  for (const std::vector<std::uint64_t>& numbers : {std::vector<std::uint64_t>{7, 9}, {7}, {78}, {}}) {
    EXPECT_THROW((void)testing_support::RunParties(
                     Seed{3},
                     [&](mpc::Context& party) {
                       RequireSameNoise(party, NoiseOf(0.5),
                                        party.self() == 2 ? numbers : std::vector<std::uint64_t>{7, 8});
                       return 0;
                     }),
                 ConfigError);
  }
}

/// Machines of one party may be of different make: where one draws otherwise no party goes on, and each says
/// why, in place of losing the party that has it.
TEST(RequireSameNoise, ComparesTheMachinesOfAParty) {
  for (const int odd_rank : {1, 2}) {
    const auto ends = testing_support::EndsOfRanks(3, {3}, [&](mpc::Context& party, mpc::Ranks& ranks) {
      const bool odd = party.self() == 1 && ranks.rank() >= odd_rank;
      RequireSameNoise(party, NoiseOf(odd ? 0.75 : 0.5), {7}, &ranks);
      ADD_FAILURE() << "went on";
    });
    const auto error = [&](std::size_t rank, std::size_t party) {
      return ErrorText<ConfigError>([&] { std::rethrow_exception(ends[rank][party]); });
    };
    for (std::size_t rank = 0; rank < ends.size(); ++rank) {
      EXPECT_EQ(error(rank, 1), "rank " + std::to_string(odd_rank) +
                                    ": found other constants of the noise than rank 0, expected the same "
                                    "program and libraries");
    }
    for (const std::size_t peer : {0, 2})
      EXPECT_THAT(error(0, peer), HasSubstr("party 1 derived other constants of the noise"));
  }
}

/// As above with machines of all parties: no two of them say the same.
TEST(RequireSameNoise, ComparesTheMachinesOfEachParty) {
  const auto ends = testing_support::EndsOfRanks(2, {3}, [](mpc::Context& party, mpc::Ranks& ranks) {
    RequireSameNoise(party, NoiseOf(ranks.rank() == 1 ? 0.75 : 0.5), {7}, &ranks);
    ADD_FAILURE() << "went on";
  });
  for (const auto& of_rank : ends) {
    for (const auto& end : of_rank) EXPECT_THROW(std::rethrow_exception(end), ConfigError);
  }
}

TEST(RequireSameNoise, PassesOnTheSameAtAllMachines) {
  const auto ends = testing_support::EndsOfRanks(2, {3}, [](mpc::Context& party, mpc::Ranks& ranks) {
    RequireSameNoise(party, NoiseOf(0.5), {7}, &ranks);
  });
  for (const auto& of_rank : ends) {
    for (const auto& end : of_rank) EXPECT_FALSE(end);
  }
}

}  // namespace
}  // namespace trefoil::jobs
