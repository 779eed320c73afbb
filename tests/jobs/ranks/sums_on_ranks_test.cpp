#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <mutex>

#include "base/error.h"
#include "data/formats/numpy/npy.h"
#include "jobs/job.h"
#include "jobs/same_noise.h"
#include "tests/apps/temporary_folder.h"
#include "tests/jobs/silent_output.h"
#include "tests/support/error_text.h"
#include "tests/support/thread_ranks.h"

namespace trefoil::jobs {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;
using testing_support::ErrorText;
using Bytes = std::array<std::uint64_t, net::kParties>;

constexpr const char* kSumOfRanks = R"(
version = 1
type = "sum"
name = "sums"
[data]
name = "sums"
rows = [9, 9, 9]
[sum]
dimension = 7
norm_bound = 4.0
calls = 2
[privacy]
sigma = 0.01
delta = 1e-5
)";

constexpr const char* kCountsOfRanks = R"(
version = 1
type = "histogram"
name = "wards"
[data]
name = "wards"
format = "csv"
rows = [20, 20, 20]
[histogram]
column = "y"
values = ["a", "b", "c"]
mode = "central"
noise = "gaussian"
[privacy]
sigma = 0.01
delta = 1e-5
)";

/// A party that charges what it releases, or refuses to.
class ChargingOutput : public SilentOutput {
 public:
  ChargingOutput(bool refuses, int& settled) : refuses_(refuses), settled_(settled) {}
  void Settle(const Events& /*executed*/) override {
    if (refuses_) throw BudgetError("the record cannot be kept");
    ++settled_;
  }

 private:
  bool refuses_;
  int& settled_;
};

class SumsOnRanksTest : public testing::Test {
 protected:
  /// What the parties of so many ranks were given and how often they charged, and what each lane's parties
  /// have sent.
  struct Outcome {
    std::array<std::vector<ResultFile>, net::kParties> files;
    std::array<int, net::kParties> settled{};
    std::vector<Bytes> sent;
    testing_support::RankEnds ends;
  };

  [[nodiscard]] PartyFile PartyOf(int id) const {
    PartyFile party;
    party.id = id;
    party.inputs["data.vectors"] = folder_.path();
    const auto table = [&](int k) { return folder_.path() / ("t" + std::to_string(k) + ".csv"); };
    party.data.SetTable({table(0), table(1), table(2)});
    return party;
  }

  /// `by`: a party that cannot charge, or with `odd` that can, but whose machine of this rank draws other noise.
  [[nodiscard]] Outcome RunBy(int count, const std::string& text, int by = -1, int odd = -1) const {
    const auto file = folder_.Write("job.toml", text);
    const auto edits = [&](int party, int rank) {
      return party == by && rank == odd ? std::vector<std::string>{"privacy.sigma=0.02"}
                                        : std::vector<std::string>();
    };
    Outcome outcome{
        .files = {}, .settled = {}, .sent = std::vector<Bytes>(static_cast<std::size_t>(count)), .ends = {}};
    std::mutex mutex;
    outcome.ends = testing_support::EndsOfRanks(count, {3}, [&](mpc::Context& context, mpc::Ranks& ranks) {
      const auto self = static_cast<std::size_t>(context.self());
      const auto note_bytes = [&] {
        const std::lock_guard lock(mutex);
        const auto& counters = context.transport().counters();
        outcome.sent.at(static_cast<std::size_t>(ranks.rank())).at(self) =
            counters.bytes_sent + counters.bytes_offline;
      };
      const auto job = ReadJob(file, edits(context.self(), ranks.rank()));
      job->UseRanks(count);
      job->TakeRanks(ranks);
      const auto party = PartyOf(context.self());
      try {
        if (ranks.rank() > 0) {
          job->ServeInputs(party, "party.toml", {.threads = 1});
          job->Serve(context);
        } else {
          ChargingOutput output(context.self() == by && odd < 0, outcome.settled.at(self));
          (void)LoadInputs(*job, party, "party.toml", {.threads = 1});
          outcome.files.at(self) = job->Run(context, output).files;
        }
      } catch (...) {
        note_bytes();
        throw;
      }
      note_bytes();
    });
    return outcome;
  }

  /// By which rank 0 alone tells the peers' what noise it draws.
  static std::uint64_t Compared() { return RequireSameNoiseCost().bytes_sent()[0]; }

  /// The lanes of a job that went well have sent what is planned for the first of them, each but for what
  /// rank 0 agrees on: `compared` of it are of noise.
  void ExpectPlannedBytes(const Outcome& outcome, const std::string& text,
                          std::uint64_t compared = Compared()) const {
    const auto job = ReadJob(folder_.Write("job.toml", text));
    job->UseRanks(static_cast<int>(outcome.sent.size()));
    auto planned = job->Plan({}).forms.at(0).cost.bytes_sent;
    const auto keys = ml::SessionCost().total().bytes_sent;
    // Where there are calls rank 0's output agrees on their run, which this one does not.
    const std::uint64_t agreement = job->Calls() > 0 ? 2 * (sizeof(std::uint64_t) + kBytesOfNewRun) : 0;
    for (std::size_t party = 0; party < planned.size(); ++party) planned[party] -= keys[party] + agreement;
    EXPECT_EQ(outcome.sent.at(0), planned);
    for (auto& bytes : planned) bytes -= compared;
    for (std::size_t rank = 1; rank < outcome.sent.size(); ++rank) EXPECT_EQ(outcome.sent.at(rank), planned);
    EXPECT_THAT(outcome.settled, testing::Each(1));
    for (const auto& lane : outcome.ends) {
      for (const auto& end : lane) EXPECT_FALSE(end);
    }
  }

  /// Of the values a, b and c.
  static std::array<double, 3> CountsIn(const std::string& csv) {
    std::array<double, 3> counts{};
    EXPECT_EQ(std::sscanf(csv.c_str(), "value,count,low,high\na,%lf,%*[^\n]\nb,%lf,%*[^\n]\nc,%lf",
                          &counts[0], &counts[1], &counts[2]),
              3)
        << csv;
    return counts;
  }
  void WriteVectors() {
    for (const int call : {1, 2}) {
      std::vector<double> numbers(63);
      for (std::size_t k = 0; k < numbers.size(); ++k)
        numbers[k] = 0.125 * static_cast<double>(call * (k % 7));
      data::WriteNpy(folder_.path() / ("vectors-" + std::to_string(call) + ".npy"),
                     data::NpyFromDoubles({9, 7}, numbers));
    }
  }
  void WriteTables() {
    folder_.Write("t0.csv", "y\na\nb\n");
    folder_.Write("t1.csv", "y\na\n?\n");
    folder_.Write("t2.csv", "y\na\nb\n");
  }

  TemporaryFolder folder_;
};

// Noise of all parties has deviation 0.05 on a number: what is off by 0.5 fails for one run in 1e21.
TEST_F(SumsOnRanksTest, OpenTheSumsOfOneMachineToEachParty) {
  WriteVectors();
  for (const int count : {2, 3}) {
    const auto outcome = RunBy(count, kSumOfRanks);
    ExpectPlannedBytes(outcome, kSumOfRanks);
    for (const auto& files : outcome.files) {
      ASSERT_EQ(files.size(), 1U);
      EXPECT_EQ(files[0].text, outcome.files[0][0].text);
    }
    const auto array = data::ParseNpy(outcome.files[0][0].text, "sums.npy");
    EXPECT_EQ(array.shape, (std::vector<std::size_t>{2, 7}));
    const auto sums = data::NpyToDoubles(array, "sums.npy");
    for (std::size_t k = 0; k < 14; ++k) {
      const double expected = 27 * 0.125 * static_cast<double>((1 + k / 7) * (k % 7));
      EXPECT_NEAR(sums[k], expected, 0.5);
      EXPECT_NE(sums[k], expected);
    }
  }
}

// Likewise, of deviation 0.013.
TEST_F(SumsOnRanksTest, CountAsOneMachineDoes) {
  WriteTables();
  for (const int count : {2, 3, 4}) {
    const auto outcome = RunBy(count, kCountsOfRanks);
    ExpectPlannedBytes(outcome, kCountsOfRanks);
    const auto& csv = outcome.files[2].at(0).text;
    EXPECT_EQ(csv, outcome.files[0].at(0).text);
    EXPECT_THAT(CountsIn(csv), ElementsAre(DoubleNear(9, 0.2), DoubleNear(6, 0.2), DoubleNear(0, 0.2)));
  }
}

// Reports of all that the job declares, of which each is for its value but one in e^30.
TEST_F(SumsOnRanksTest, ReportByRanks) {
  WriteTables();
  folder_.Write("t1.csv", "y\na\nc\n");
  std::string text = kCountsOfRanks;
  text.replace(text.find("mode = \"central\"\nnoise = \"gaussian\""), 35,
               "mode = \"local\"\nrandomiser = \"k-ary\"");
  text.replace(text.find("sigma = 0.01\ndelta = 1e-5"), 25, "epsilon = 30\n");
  auto few = text;
  few.replace(few.find("20, 20, 20"), 10, "6, 6, 6");
  const auto outcome = RunBy(2, few);
  ExpectPlannedBytes(outcome, few, 0);  // which compare none
  EXPECT_THAT(CountsIn(outcome.files[1].at(0).text),
              ElementsAre(DoubleNear(9, 1e-6), DoubleNear(6, 1e-6), DoubleNear(3, 1e-6)));
  // Of 6,000 that are declared 18 are there; the others report, too. At epsilon 1 a report without a value is
  // for one of the three with probability 3 / (e + 3) = 0.525, and counts are those divided by (e - 1) / (e +
  // 3) = 0.3: the sum of the counts has deviation 129, and would be -10,000 without those reports. Off by
  // 840: one run in 1e10.
  text.replace(text.find("20, 20, 20"), 10, "2000, 2000, 2000");
  text.replace(text.find("epsilon = 30"), 12, "epsilon = 1");
  const auto counts = CountsIn(RunBy(2, text).files[1].at(0).text);
  EXPECT_NEAR(counts[0] + counts[1] + counts[2], 18, 840);
}

/// Where a party cannot charge, none of its machines sends a peer a byte of data, and nobody opens anything.
TEST_F(SumsOnRanksTest, SendNothingBeforeThePartyHasCharged) {
  WriteVectors();
  WriteTables();
  for (const char* text : {kSumOfRanks, kCountsOfRanks}) {
    const auto outcome = RunBy(3, text, 1);
    for (std::size_t rank = 0; rank < outcome.sent.size(); ++rank)
      EXPECT_EQ(outcome.sent.at(rank)[1], rank == 0 ? Compared() : 0U);
    for (const auto& files : outcome.files) EXPECT_TRUE(files.empty());
    EXPECT_THROW(std::rethrow_exception(outcome.ends[0][1]), BudgetError);
    EXPECT_THROW(std::rethrow_exception(outcome.ends[2][0]), NetworkError);
  }
}

/// One machine of party 1 would draw other noise than the three charge: none does, and nobody charges.
TEST_F(SumsOnRanksTest, ChargeNothingWhereAMachineDrawsOtherNoise) {
  WriteVectors();
  WriteTables();
  for (const char* text : {kSumOfRanks, kCountsOfRanks}) {
    const auto outcome = RunBy(3, text, 1, 2);
    for (std::size_t rank = 0; rank < 3; ++rank)  // which tells the peers
      EXPECT_EQ(outcome.sent.at(rank)[1], rank == 0 ? Compared() : 0U);
    EXPECT_THAT(outcome.settled, testing::Each(0));
    for (const auto& files : outcome.files) EXPECT_TRUE(files.empty());
    EXPECT_THAT(ErrorText<ConfigError>([&] { std::rethrow_exception(outcome.ends[2][1]); }),
                HasSubstr("rank 2: found other constants of the noise than rank 0"));
    EXPECT_THAT(ErrorText<ConfigError>([&] { std::rethrow_exception(outcome.ends[0][0]); }),
                HasSubstr("party 1 derived other constants of the noise"));
  }
}

// By `trefoil check`, which has one machine.
TEST_F(SumsOnRanksTest, AreRefusedOfFilesThatMachinesCannotReadInParts) {
  const auto load = [&](const std::string& text, int ranks, const PartyFile& party) {
    const auto job = ReadJob(folder_.Write("job.toml", text));
    job->UseRanks(ranks);
    (void)LoadInputs(*job, party, "party.toml", {.threads = 1});
  };
  WriteVectors();
  std::filesystem::remove(folder_.path() / "vectors-2.npy");
  data::WriteNpy(folder_.path() / "packed.npy.gz", data::NpyFromDoubles({9, 7}, std::vector<double>(63)));
  std::filesystem::rename(folder_.path() / "packed.npy.gz", folder_.path() / "vectors-2.npy");
  load(kSumOfRanks, 1, PartyOf(0));
  EXPECT_THROW(load(kSumOfRanks, 2, PartyOf(0)), DataError);
  WriteTables();
  load(kCountsOfRanks, 2, PartyOf(0));
  auto queried = PartyOf(0);
  queried.data.query = "SELECT y FROM t";
  EXPECT_THAT(ErrorText<ConfigError>([&] { load(kCountsOfRanks, 2, queried); }), HasSubstr("[data] query"));
}

TEST_F(SumsOnRanksTest, AreRefusedOfDeposits) {
  std::string text = kSumOfRanks;
  text.replace(text.find("rows = [9, 9, 9]"), 16, "source = \"store\"\ncapacity = 9");
  text.replace(text.find("calls = 2\n"), 10, "");
  const auto job = ReadJob(folder_.Write("job.toml", text));
  job->UseRanks(1);
  EXPECT_EQ(ErrorText<ConfigError>([&] { job->UseRanks(2); }),
            "data.source: found \"store\", expected \"files\", with [party] ranks above 1");
}

}  // namespace
}  // namespace trefoil::jobs
