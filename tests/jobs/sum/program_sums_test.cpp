#include "jobs/sum/program_sums.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "base/threads/blocking_call.h"
#include "jobs/config/toml/tomlplusplus.h"
#include "jobs/job.h"
#include "jobs/sum/own_sums.h"
#include "tests/apps/temporary_folder.h"
#include "tests/support/error_text.h"
#include "tests/support/fixed_key.h"

namespace trefoil::jobs {
namespace {

using testing::HasSubstr;
using testing_support::ErrorText;
using Rows = std::vector<std::vector<double>>;

constexpr const char* kSessionJob = R"(
version = 1
type = "sum"
name = "sums"
[data]
name = "sums"
rows = [50, 50, 50]
[sum]
dimension = 2
norm_bound = 1.0
calls = 3
[privacy]
sigma = 1.0
delta = 1e-5
)";

SumSettings SessionWith(const std::vector<std::string>& assignments = {}) {
  auto table = toml::parse(kSessionJob);
  for (const auto& assignment : assignments) SetValue(table, assignment);
  return ReadSumSettings(table, "sums.toml");
}

/// Forty vectors, half of them longer than the bound, pairs of which have one key.
Rows FortyVectors() {
  Rows rows;
  for (int k = 0; k < 40; ++k) rows.push_back({0.05 * k - 0.3, 1 - 0.031 * k});
  return rows;
}

/// Brings the vectors of `vectors`, or what a test says in their place.
class ListedVectors : public VectorProgram {
 public:
  explicit ListedVectors(Rows vectors) : vectors_(std::move(vectors)) {}

  [[nodiscard]] std::int64_t records() const override { return static_cast<std::int64_t>(vectors_.size()); }
  [[nodiscard]] std::vector<std::int64_t> keys() const override { return keys_; }
  bool Bring(std::int64_t call, std::span<const std::int64_t> rows, const Add& add) override {
    call_ = call;
    under_way_ = BlockingCall::Oldest();
    if (other_) {
      add(*other_);
      return true;
    }
    for (const auto row : rows) add(vectors_.at(static_cast<std::size_t>(row)));
    return goes_on_;
  }
  void Opened(std::int64_t call, std::span<const double> sum) override {
    EXPECT_EQ(call, call_);
    under_way_ = BlockingCall::Oldest();
    opened_.emplace_back(sum.begin(), sum.end());
  }

  void SetKeys(std::vector<std::int64_t> keys) { keys_ = std::move(keys); }
  void SetOther(std::vector<double> numbers) { other_ = std::move(numbers); }
  void EndHere() { goes_on_ = false; }
  /// What this process was said to wait for when the program was asked last.
  [[nodiscard]] const std::optional<BlockingCall::UnderWay>& under_way() const { return under_way_; }

 private:
  Rows vectors_;
  std::vector<std::int64_t> keys_{};
  std::optional<std::vector<double>> other_{};
  bool goes_on_ = true;
  std::optional<BlockingCall::UnderWay> under_way_{};
  std::int64_t call_ = 0;
  Rows opened_{};
};

RandomStream Coins() { return RandomStream(testing_support::FixedKey(3)); }

/// The sums of all calls with the same coins, by a program and by files.
void ExpectSameAsOfFiles(const SumSettings& job, const std::vector<std::int64_t>& keys) {
  const auto rows = FortyVectors();
  ListedVectors program(rows);
  program.SetKeys(keys);
  ProgramSums of_program(job, program, 50, Coins());
  const TemporaryFolder folder;
  std::vector<double> values;
  for (const auto& row : rows) values.insert(values.end(), row.begin(), row.end());
  for (const char* call : {"1", "2", "3"}) {
    data::WriteNpy(folder.path() / (std::string("vectors-") + call + ".npy"),
                   data::NpyFromDoubles({40, 2}, values));
    data::WriteNpy(folder.path() / (std::string("keys-") + call + ".npy"),
                   data::NpyFromIntegers({keys.size()}, keys));
  }
  PartyFile party;
  party.inputs["data.vectors"] = folder.path();
  if (!keys.empty()) party.inputs["data.keys"] = folder.path();
  auto coins = Coins();
  const auto of_files = LoadOwnSums(job, party, "party.toml", coins);
  for (const auto& expected : of_files.of_calls) {
    const auto sum = of_program.Next();
    ASSERT_TRUE(sum);
    EXPECT_TRUE((*sum == expected).all());
  }
}

TEST(ProgramSums, AreThoseOfFilesWithTheSameCoins) {
  ExpectSameAsOfFiles(SessionWith(), {});
  ExpectSameAsOfFiles(SessionWith({"sum.sampling_rate=0.3"}), {});
  std::vector<std::int64_t> keys;
  for (int k = 0; k < 40; ++k) keys.push_back(-k / 2);
  ExpectSameAsOfFiles(
      SessionWith({"sum.sampling_rate=0.3", "privacy.unit=group", "privacy.max_group_rows=2"}), keys);
}

TEST(ProgramSums, TakeOneVectorOfWhoSumsByItself) {
  const auto job = SessionWith({"sum.summed=owner", "sum.allowance=0.001", "sum.fraction_bits=20"});
  ListedVectors program(FortyVectors());
  ProgramSums sums(job, program, 50, Coins());
  program.SetOther({2.5, -3.9999999});
  const auto sum = sums.Next();
  ASSERT_TRUE(sum);
  EXPECT_EQ(mpc::Signed(sum->data()[0]), 5 << 19);
  EXPECT_EQ(mpc::Signed(sum->data()[1]), -(4 << 20) + 1);
  // As much as the 50 records may have that are declared, however many there are.
  program.SetOther({50.04, 0});
  EXPECT_TRUE(sums.Next());
  program.SetOther({50.06, 0});
  EXPECT_THAT(ErrorText<std::exception>([&] { (void)sums.Next(); }),
              HasSubstr("call 3: number 1: found a number of larger magnitude, expected at most 50.05"));
  program.SetOther({1});
  EXPECT_THAT(ErrorText<std::exception>([&] { (void)sums.Next(); }),
              HasSubstr("found 1 numbers, expected one"));
}

TEST(ProgramSums, AreNothingWhereTheProgramEndsTheSession) {
  const auto job = SessionWith();
  ListedVectors program(FortyVectors());
  ProgramSums sums(job, program, 50, Coins());
  EXPECT_TRUE(sums.Next());
  sums.Opened({});
  program.EndHere();
  EXPECT_FALSE(sums.Next());
}

// Whoever watches the run can name it, however long it takes.
TEST(ProgramSums, SayThatTheyWaitForTheProgram) {
  const auto job = SessionWith();
  ListedVectors program(FortyVectors());
  ProgramSums sums(job, program, 50, Coins());
  EXPECT_TRUE(sums.Next());
  ASSERT_TRUE(program.under_way());
  EXPECT_EQ(program.under_way()->what, "waiting for the program's vectors");
  EXPECT_EQ(program.under_way()->of, BlockingCall::Of::kProgram);
  EXPECT_FALSE(BlockingCall::Oldest());
  sums.Opened({});
  ASSERT_TRUE(program.under_way());
  EXPECT_EQ(program.under_way()->what, "handing a sum to the program");
  EXPECT_FALSE(BlockingCall::Oldest());
}

TEST(ProgramSums, RefuseWhatIsNotAVectorForEachRecord) {
  const auto job = SessionWith();
  const auto refused = [&](std::vector<double> numbers, const std::string& text) {
    ListedVectors program(Rows(2, {0, 0}));
    program.SetOther(std::move(numbers));
    ProgramSums sums(job, program, 50, Coins());
    EXPECT_THAT(ErrorText<DataError>([&] { (void)sums.Next(); }), HasSubstr(text));
  };
  refused({0, 0, 0, std::nan("")}, "call 1: record 2, number 2: found nan, expected a finite number");
  refused({0, 0, 0}, "call 1: found 3 numbers, expected whole vectors of 2 numbers");
  refused({0, 0}, "call 1: found 1 vectors, expected 2, one for each record that is taken");
  refused({0, 0, 0, 0, 0, 0}, "call 1: found one more vector, expected 2");
  ListedVectors many(Rows(51, {0, 0}));
  EXPECT_THAT(ErrorText<DataError>([&] { ProgramSums(job, many, 50, Coins()); }),
              HasSubstr("the program's records: found 51, expected at most the 50 that the job declares"));
  many.SetKeys({1});
  EXPECT_THAT(ErrorText<DataError>([&] { ProgramSums(job, many, 60, Coins()); }),
              HasSubstr("found 1 keys, expected 0, as the job has no groups"));
  const auto groups = SessionWith({"privacy.unit=group", "privacy.max_group_rows=2"});
  ListedVectors three(Rows(3, {0, 0}));
  three.SetKeys({7, 7, 7});
  EXPECT_THROW(ProgramSums(groups, three, 50, Coins()), DataError);
}

// A ledger of no file would take whatever vectors come, and their records another one's budget.
TEST(ProgramSums, WantTheFileOfTheRecordsWhereThereIsALedger) {
  const TemporaryFolder folder;
  const auto file = folder.Write("job.toml", kSessionJob);
  const auto error = [&](const PartyFile& party) {
    ListedVectors program(FortyVectors());
    const auto job = ReadJob(file);
    job->TakeVectorsOf(program);
    return ErrorText<ConfigError>([&] { (void)LoadInputs(*job, party, "party.toml", {}); });
  };
  PartyFile party;
  EXPECT_EQ(error(party), "");
  party.ledger = LedgerSettings{.file = folder.path() / "l.jsonl", .epsilon_cap = 1, .delta = 1e-5};
  EXPECT_THAT(error(party), HasSubstr("party.toml: missing [data] file, expected the records"));
  party.data.file = folder.path() / "people.csv";
  EXPECT_EQ(error(party), "");
}

}  // namespace
}  // namespace trefoil::jobs
