#include "jobs/deposited_vectors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "base/error.h"
#include "data/formats/numpy/npy.h"
#include "jobs/deposited_records.h"
#include "jobs/job.h"
#include "ml/plan/run_cost.h"
#include "ml/records.h"
#include "tests/apps/temporary_folder.h"
#include "tests/jobs/job_on_deposits.h"
#include "tests/jobs/silent_output.h"
#include "tests/support/ml_test.h"
#include "trefoil/run.h"

namespace trefoil::jobs {
namespace {

using mpc::Index;
using mpc::RingMatrix;
using mpc::Word;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing_support::ErrorText;
using testing_support::InsecureDeal;
using testing_support::RunParties;
using testing_support::Seed;

constexpr const char* kSumOfDeposits = R"(version = 1
type = "sum"
name = "sums"
[data]
name = "sums"
source = "store"
capacity = 1000
[sum]
dimension = 3
norm_bound = 2.0
[privacy]
sigma = 0.01
delta = 1e-5
[release]
to = [0, 2]
)";
constexpr const char* kStatisticsOfDeposits = R"(version = 1
type = "statistics"
name = "people"
[data]
name = "people"
format = "csv"
source = "store"
capacity = 1000
column = [
  { name = "age", low = 0.0, high = 100.0, missing = [] },
  { name = "colour", kind = "category", values = ["red", "green"], missing = [] },
]
[statistics]
bins = 4
table = [{ rows = "colour" }]
[privacy]
sigma = 0.01
delta = 1e-5
[release]
to = [0, 2]
)";

std::unique_ptr<Job> JobWith(const char* text, const std::vector<std::string>& assignments = {}) {
  const TemporaryFolder folder;
  return ReadJob(folder.Write("job.toml", text), assignments);
}

std::string WhyNot(const char* text, const std::vector<std::string>& assignments) {
  return ErrorText<ConfigError>([&] { (void)JobWith(text, assignments); });
}

constexpr Index kDealt = 40;  // rows of each of two deposits

/// Two deposits; in memory, or in blocks that begin with one of them.
class DealtVectors : public SharedRecords {
 public:
  DealtVectors(RingMatrix rows, Index block_rows) : rows_(std::move(rows)), block_rows_(block_rows) {}

  std::string Load(const RecordSchema& /*records*/) override { return ""; }
  std::vector<Population> Populations() override { return {}; }
  Checked Share(mpc::Context& party, const CapOf& /*cap*/, const std::string& /*run*/) override {
    Checked checked{.summary = {{"used", 2}}, .populations = {{.owner = "a", .name = "b"}}};
    for (const Index first : {Index{0}, kDealt})
      checked.rows.push_back(InsecureDeal(party, RingMatrix(rows_.middleRows(first, kDealt))));
    if (block_rows_ == 0) return checked;
    checked.batch = [all = std::exchange(checked.rows, {}), height = block_rows_](std::int64_t block) {
      const auto& rows = all.at(static_cast<std::size_t>(block));
      return Stacked(rows, mpc::ArithShare::Zero(height - rows.rows(), rows.cols()));
    };
    return checked;
  }
  std::string SealForOwner(const PartForOwner& /*part*/) override { return ""; }

 private:
  RingMatrix rows_;
  Index block_rows_;
};

/// Notes what is charged, and when.
class NotedCharge : public SilentOutput {
 public:
  void ChargeTo(const std::vector<Population>& populations) override {
    for (const auto& one : populations) told.push_back("to " + one.owner + "/" + one.name);
  }
  void Reserve(const Events& plan, const Events& /*before*/) override {
    told.push_back("reserve " + std::to_string(plan.size()));
  }
  void Settle(const Events& executed) override {
    told.push_back("settle " + std::to_string(executed.size()));
  }

  std::vector<std::string> told{};
};

struct OfParty {
  JobResult result;
  std::vector<std::string> told;
  protocols::Measured measured;
};

/// A run of all three on these rows, at the planned cost and charge.
std::array<OfParty, 3> RunOf(const char* text, const RingMatrix& rows,
                             const std::vector<std::string>& assignments = {}) {
  const TemporaryFolder folder;
  const auto file = folder.Write("job.toml", text);
  auto parties = RunParties(Seed{6}, [&](mpc::Context& party) {
    const auto job = ReadJob(file, assignments);
    DealtVectors deposits(rows, static_cast<Index>(BlockRows(*job->Records())));
    job->TakeRecordsOf(deposits);
    NotedCharge output;
    OfParty seen;
    seen.measured = protocols::Measure(party, [&] { seen.result = job->Run(party, output); });
    seen.told = output.told;
    return seen;
  });
  const auto planned = ReadJob(file, assignments)->Plan({}).forms.at(0).cost;
  const auto empty = ml::SessionCost().total();
  int rounds = 0;
  for (std::size_t self = 0; self < parties.size(); ++self) {
    const auto& seen = parties[self];
    rounds = std::max(rounds, seen.measured.rounds);
    EXPECT_EQ(seen.measured.bytes_sent + seen.measured.bytes_offline,
              planned.bytes_sent[self] - empty.bytes_sent[self]);
    EXPECT_THAT(seen.told, ElementsAre("to a/b", "reserve 1", "settle 1"));
    EXPECT_EQ(seen.result.summary["deposits"]["used"], 2);
    for (const auto* key : {"summed", "sampling_rate"})
      EXPECT_FALSE(seen.result.summary.contains(key)) << key;
    EXPECT_EQ(seen.result.files.empty(), self == 1);
  }
  EXPECT_EQ(rounds, planned.rounds - empty.rounds);
  return parties;
}

/// Vectors with mask bits, every fifth row padding.
RingMatrix VectorsAt(Index numbers, int bits) {
  RingMatrix rows = RingMatrix::Zero(2 * kDealt, numbers + 2);
  for (Index row = 0; row < rows.rows(); ++row) {
    if (row % 5 == 4) continue;
    rows.row(row).head(numbers) =
        testing_support::RandomSigned(static_cast<std::uint64_t>(row), 1, numbers, bits);
    rows(row, numbers) = 1;
  }
  return rows;
}

/// What was opened, of a sum.
std::vector<double> OpenedBy(const OfParty& party) {
  const TemporaryFolder folder;
  const auto file = folder.Write("sums.npy", party.result.files.at(0).text);
  return data::NpyToDoubles(data::ReadNpy(file), file);
}

TEST(SumOfDepositsJob, IsOfAllRowsWithTheNoiseOfItsLattice) {
  constexpr int kBits = 24;
  const auto rows = VectorsAt(3, kBits);
  for (const std::vector<std::string>& assignments :
       {std::vector<std::string>{}, std::vector<std::string>{"data.memory=1"}}) {
    const auto parties = RunOf(kSumOfDeposits, rows, assignments);
    const auto opened = OpenedBy(parties[0]);
    EXPECT_EQ(opened, OpenedBy(parties[2]));
    ASSERT_EQ(opened.size(), 3U);
    for (Index k = 0; k < 3; ++k) {
      const double expected = std::ldexp(static_cast<double>(mpc::Signed(rows.col(k).sum())), -kBits);
      // Noise of deviation 0.01 sqrt(1.5) 2: eight of them are exceeded with a probability below 10^-14.
      EXPECT_NEAR(opened[static_cast<std::size_t>(k)], expected, 0.2);
      EXPECT_NE(opened[static_cast<std::size_t>(k)], expected);
    }
  }
}

/// Of 4,000 numbers of Gaussian noise, whose mean square strays from the variance by 15.5% with a probability
/// below 10^-8 (Chernoff: exp(-n/2 (x - 1 - ln x)), x = 1.155).
void ExpectNoise(const std::vector<double>& numbers, double deviation) {
  ASSERT_GE(numbers.size(), 4000U);
  double squares = 0;
  for (const double one : numbers) squares += one * one;
  const double variance = squares / static_cast<double>(numbers.size());
  EXPECT_NEAR(variance / (deviation * deviation), 1, 0.155);
}

RingMatrix Padding(Index numbers) { return RingMatrix::Zero(2 * kDealt, numbers + 2); }

TEST(SumOfDepositsJob, HasNoLessNoiseThanItIsChargedFor) {
  const auto parties = RunOf(kSumOfDeposits, Padding(4096), {"sum.dimension=4096"});
  ExpectNoise(OpenedBy(parties[2]), 0.01 * std::sqrt(1.5) * 2);
}

TEST(SumOfDepositsJob, HasTheLatticeThatRowsHaveRoomForAndItsSensitivity) {
  const auto job = JobWith(kSumOfDeposits);
  EXPECT_TRUE(IsOnDeposits(*job));
  EXPECT_EQ(job->DeclaredRows(), 1000);
  EXPECT_EQ(job->Calls(), 0);
  EXPECT_TRUE(PromiseOf(*job).deposited);
  EXPECT_EQ(job->Records()->fraction_bits, 24);
  EXPECT_EQ(SensitivityOfDeposits(*job->Records()), std::uint64_t{1} << 25);
  EXPECT_THAT(job->Title(), HasSubstr("norm 2, all that owners deposited"));
  ExpectNoRecordsOfItsOwn(*job);
  const auto wide = JobWith(kSumOfDeposits, {"sum.dimension=100000", "sum.norm_bound=0.3"});
  const auto& rows = *wide->Records();
  EXPECT_EQ(rows.fraction_bits, 21);
  EXPECT_LE(ml::LargestSquaredNorm(0.3, 21), SensitivityOfDeposits(rows) * SensitivityOfDeposits(rows));
  EXPECT_EQ(SensitivityOfDeposits(rows), static_cast<std::uint64_t>(std::ceil(0.3 * 0x1p21)));
  EXPECT_THAT(job->Advice(), testing::IsEmpty());
  EXPECT_THAT(JobWith(kSumOfDeposits, {"sum.fraction_bits=12"})->Advice(),
              ElementsAre(HasSubstr("12 bits behind the point, beyond which they are cut: over 1000 records "
                                    "a sum may lose 0.244, where noise has deviation 0.0245")));
  // Numbers that are rounded to single precision lose up to 1.8e-7 of the norm, which is more than a unit of
  // 2^-24.
  EXPECT_THAT(JobWith(kSumOfDeposits, {"data.capacity=1000000", "privacy.sigma=0.1"})->Advice(),
              ElementsAre(HasSubstr("a sum may lose 0.417, where noise has deviation 0.245")));
  EXPECT_EQ(job->Plan({}).apart, "the sums of deposited rows");
  // The same multiplier is charged the same wherever the vectors are.
  const auto files = JobWith(
      R"(version = 1
type = "sum"
name = "sums"
[data]
name = "sums"
rows = [1000, 0, 0]
[sum]
dimension = 3
norm_bound = 2.0
[privacy]
sigma = 0.01
delta = 1e-5
)");
  EXPECT_EQ(files->Records(), nullptr);
  EXPECT_EQ(files->Calls(), 1);
  EXPECT_NEAR(job->Epsilons().insider, files->Epsilons().insider, 1e-6 * files->Epsilons().insider);
}

TEST(SumOfDepositsJob, PlansForRowsTheirCheckAndADepositAsItCame) {
  const auto memory = [](const char* dimension, const char* capacity) {
    return JobWith(kSumOfDeposits,
                   {std::string("sum.dimension=") + dimension, std::string("data.capacity=") + capacity})
        ->Plan({})
        .memory->at(1);
  };
  // 64 rows are checked at once, however wide; of narrow ones about 2^20 numbers.
  EXPECT_NEAR(memory("50000", "64") / (50'000 * 64.0 * (16 + 8 + 256)), 1, 0.1);
  EXPECT_NEAR(memory("50000", "640") / (50'000 * 64.0 * (10 * (16 + 8) + 256)), 1, 0.1);
  EXPECT_NEAR(memory("62", "1000000") / (64e6 * (16 + 8) + 0x1p20 * 256), 1, 0.1);
}

TEST(SumOfDepositsJob, RefusesWhatOwnersWouldHaveToBeThereFor) {
  const auto refused = [](const char* assignment) { return WhyNot(kSumOfDeposits, {assignment}); };
  EXPECT_THAT(refused("sum.calls=2"), HasSubstr("sum.calls: found it with data.source \"store\""));
  EXPECT_THAT(refused("sum.summed=owner"), HasSubstr("sum.summed: found it with data.source \"store\""));
  EXPECT_THAT(refused("sum.sampling_rate=0.5"), HasSubstr("sum.sampling_rate: found it"));
  EXPECT_THAT(WhyNot(kSumOfDeposits, {"privacy.unit=group", "privacy.max_group_rows=2"}),
              HasSubstr("privacy.unit: found \"group\", expected \"record\" with data.source \"store\""));
  EXPECT_THAT(refused("data.rows=[1, 1, 1]"), HasSubstr("which has data.capacity"));
  EXPECT_THAT(refused("data.purpose=predict"),
              HasSubstr("data.purpose: found \"predict\", expected another"));
  EXPECT_THAT(refused("sum.fraction_bits=25"), HasSubstr("expected a whole number from 8 to 24"));
  EXPECT_THAT(refused("sum.dimension=2000000"),
              HasSubstr("sum.dimension: found 2000000, expected at most 1000000"));
  EXPECT_THAT(refused("sum.norm_bound=8000000.0"),
              HasSubstr("sum.norm_bound: found 8000000 with 3 numbers, 8 fraction"));
  EXPECT_THAT(WhyNot(kSumOfDeposits, {"sum.norm_bound=0.001", "sum.fraction_bits=8"}),
              HasSubstr("expected more than 2^-8, the unit of a row"));
  class NoVectors : public VectorProgram {
    [[nodiscard]] std::int64_t records() const override { return 0; }
    bool Bring(std::int64_t, std::span<const std::int64_t>, const Add&) override { return false; }
    void Opened(std::int64_t, std::span<const double>) override {}
  } program;
  EXPECT_THAT(
      ErrorText<ConfigError>([&] { JobWith(kSumOfDeposits)->TakeVectorsOf(program); }),
      HasSubstr("data.source: found \"store\", expected \"files\" where a program brings the vectors"));
}

TEST(SumOfDepositsJob, NamesTheKeysOfNoiseThatIsTooNarrow) {
  EXPECT_THAT(
      WhyNot(kSumOfDeposits, {"sum.norm_bound=1e-7", "privacy.sigma=5.0"}),
      MatchesRegex(".*/job.toml: sum.norm_bound and privacy.sigma: noise variance in lattice units .*"));
}

TEST(StatisticsOfDepositsJob, AreReadFromTheSumOfAllVectors) {
  const auto records = *JobWith(kStatisticsOfDeposits)->Records();
  ASSERT_EQ(records.data.features, 9);  // a count, two moments, four bins, two values
  ASSERT_EQ(records.fraction_bits, 24);
  // Four items, all with weight 1: counts are in units of a half, less by one unit of the lattice.
  const Word half = (Word{1} << 23) - 1;
  RingMatrix rows = RingMatrix::Zero(2 * kDealt, 11);
  for (Index row = 0; row < rows.rows(); ++row) {
    if (row % 5 == 4) continue;
    rows(row, 0) = half;  // age 100, green; every third one red
    rows(row, 1) = half;
    rows(row, 6) = half;
    rows(row, row % 3 == 0 ? 7 : 8) = half;
    rows(row, 9) = 1;
  }
  for (const auto& party : RunOf(kStatisticsOfDeposits, rows)) {
    if (party.result.files.empty()) continue;
    const auto file = [&](const std::string& name) {
      const auto found = std::find_if(party.result.files.begin(), party.result.files.end(),
                                      [&](const auto& one) { return one.name == name; });
      return found->text;
    };
    // Noise of a count has deviation 0.025.
    EXPECT_THAT(file("tables.csv"), testing::ContainsRegex("red,,(21|22)\\."));
    EXPECT_THAT(file("tables.csv"), testing::ContainsRegex("green,,(41|42)\\."));
    EXPECT_THAT(file("moments.csv"), testing::ContainsRegex("age,6[34]"));
  }
}

TEST(StatisticsOfDepositsJob, HaveNoLessNoiseThanTheyAreChargedFor) {
  const auto parties = RunOf(kStatisticsOfDeposits, Padding(4005), {"statistics.bins=4000"});
  const auto& result = parties[0].result;
  const auto bins = std::find_if(result.files.begin(), result.files.end(),
                                 [](const auto& file) { return file.name == "bins.csv"; });
  std::vector<double> counts;
  std::istringstream lines(bins->text);
  std::string line;
  std::getline(lines, line);  // the head
  while (std::getline(lines, line)) counts.push_back(std::stod(line.substr(line.rfind(',') + 1)));
  const double deviation = 0.01 * std::sqrt(1.5) * 2;  // four items of equal weight
  ExpectNoise(counts, deviation);
  EXPECT_NEAR(result.summary["noise"]["quantiles_deviation"].get<double>(), deviation, 1e-3 * deviation);
  EXPECT_EQ(result.summary["sensitivity"], 1.0);
}

TEST(StatisticsOfDepositsJob, SayWhatAHostileOwnersRowMoves) {
  EXPECT_THAT(JobWith(kStatisticsOfDeposits)->Warnings(),
              ElementsAre(HasSubstr("by up to 2.00001 records with each row of its capacity")));
  // Of a unit of the lattice less than a half. Of weights 1, 1, 1 and 1/9 the last has √28 in place of √4.
  EXPECT_THAT(JobWith(kStatisticsOfDeposits, {"statistics.weights.tables=0.1111111"})->Warnings(),
              ElementsAre(HasSubstr("by up to 5.29")));
}

TEST(StatisticsOfDepositsJob, HasOneUnitOfSensitivityAndNoRecordsOfItsOwn) {
  const auto job = JobWith(kStatisticsOfDeposits);
  EXPECT_TRUE(IsOnDeposits(*job));
  EXPECT_EQ(job->DeclaredRows(), 1000);
  EXPECT_EQ(SensitivityOfDeposits(*job->Records()), std::uint64_t{1} << 24);
  EXPECT_EQ(job->Plan({}).apart, "the sums of deposited rows");
  ExpectNoRecordsOfItsOwn(*job);
  EXPECT_EQ(HashOf(*ParseJob(job->Json(), "x")), HashOf(*job));
  EXPECT_THAT(WhyNot(kStatisticsOfDeposits, {"statistics.bins=4096", "data.memory=1"}),
              HasSubstr("data.memory: found 1, expected at least"));
  EXPECT_THAT(
      WhyNot(kSumOfDeposits, {"sum.dimension=4096", "data.memory=1"}),
      MatchesRegex(".*/job.toml: data.memory: found 1, expected at least .* 64 rows of 4096 numbers"));
  std::string tables;
  for (int k = 0; k < 8; ++k) tables += "{ rows = \"colour\" }, ";
  EXPECT_THAT(
      WhyNot(kStatisticsOfDeposits, {"statistics.bins=4096", "statistics.weights.quantiles=0.0011",
                                     "statistics.weights.tables=999.0", "statistics.table=[" + tables + "]"}),
      MatchesRegex(".*/job.toml: statistics.weights: quantiles have .*"));
}

}  // namespace
}  // namespace trefoil::jobs
