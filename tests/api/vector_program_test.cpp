#include <gmock/gmock.h>

#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/api/three_parties.h"
#include "tests/support/noise_law.h"
#include "trefoil/run.h"

namespace trefoil {
namespace {

using testing::HasSubstr;
using testing_support::AtThree;
using testing_support::ThreePartyFiles;
using Sums = std::vector<std::vector<double>>;

/// Sums of 180,000 numbers of norm 16 units of a lattice of 1/16, with noise of some units.
nlohmann::json SumsJob(int dimension = 180'000, int calls = 2) {
  return {{"version", 1},
          {"type", "sum"},
          {"name", "sums"},
          {"data", {{"name", "sums"}, {"rows", {2, 2, 2}}}},
          {"sum", {{"dimension", dimension}, {"norm_bound", 1.0}, {"calls", calls}, {"fraction_bits", 4}}},
          {"privacy", {{"sigma", 1.0}, {"delta", 1e-5}}}};
}

/// Brings (3, 4, 0 ...), which becomes (9, 12) units, and in the second call what is made of the first one's
/// sum.
class TwoRecords : public VectorProgram {
 public:
  explicit TwoRecords(int dimension = 180'000) : dimension_(dimension) {}
  [[nodiscard]] std::int64_t records() const override { return 2; }
  bool Bring(std::int64_t call, std::span<const std::int64_t> rows, const Add& add) override {
    if (call == last_ + 1) return false;
    if (call == wrong_) add(std::vector<double>(1));
    for (std::size_t k = 0; k < rows.size(); ++k) {
      std::vector<double> vector(static_cast<std::size_t>(dimension_));
      vector[0] = call == 1 ? 3 : sums_.at(0).at(2) > 0 ? 0.5 : -0.5;
      vector[1] = call == 1 ? 4 : 0;
      add(vector);
    }
    return true;
  }
  void Opened(std::int64_t /*call*/, std::span<const double> sum) override {
    sums_.emplace_back(sum.begin(), sum.end());
  }

  void EndAfter(std::int64_t call) { last_ = call; }
  void BringTooLittleIn(std::int64_t call) { wrong_ = call; }
  [[nodiscard]] const Sums& sums() const { return sums_; }

 private:
  int dimension_;
  std::int64_t last_ = 1000;
  std::int64_t wrong_ = 0;
  Sums sums_{};
};

/// In units, less what is known of its first two.
mpc::RingMatrix NoiseOf(const std::vector<double>& sum, std::int64_t first, std::int64_t second) {
  mpc::RingMatrix noise(static_cast<mpc::Index>(sum.size()), 1);
  for (std::size_t k = 0; k < sum.size(); ++k)
    noise.data()[k] = static_cast<mpc::Word>(std::llround(sum[k] * 16));
  noise.data()[0] -= static_cast<mpc::Word>(first);
  noise.data()[1] -= static_cast<mpc::Word>(second);
  return noise;
}

TEST(VectorProgram, GetsExactSumsWithNoiseOfThreeParties) {
  std::array<TwoRecords, 3> programs;
  const auto job = Job::Parse(SumsJob().dump());
  const auto results = Simulate(job, {}, {.programs = {&programs[0], &programs[1], &programs[2]}});
  ASSERT_EQ(programs[0].sums().size(), 2U);
  for (const auto& program : programs) EXPECT_EQ(program.sums(), programs[0].sums());
  // Six records, and three parts of noise of variance (sigma 16 units)^2 / 2.
  const auto& sums = programs[0].sums();
  testing_support::ExpectSumOfDiscreteGaussians(NoiseOf(sums[0], 6 * 9, 6 * 12), 128, 3);
  const int sign = sums[0][2] > 0 ? 1 : -1;
  testing_support::ExpectSumOfDiscreteGaussians(NoiseOf(sums[1], sign * 6 * 8, 0), 128, 3);
  EXPECT_NEAR(results[0].epsilons.insider, job.PlannedEpsilons().insider, 1e-9);
  EXPECT_THAT(results[1].summary, HasSubstr("\"calls_made\":2"));
  EXPECT_TRUE(results[1].files.empty());
}

TEST(VectorProgram, GetsNothingWhereNothingIsReleasedToIt) {
  std::array<TwoRecords, 3> programs{TwoRecords(3), TwoRecords(3), TwoRecords(3)};
  auto job = SumsJob(3);
  job["release"] = {{"to", {1}}};
  for (auto& program : programs) program.EndAfter(1);
  const auto results =
      Simulate(Job::Parse(job.dump()), {}, {.programs = {&programs[0], &programs[1], &programs[2]}});
  EXPECT_TRUE(programs[0].sums().at(0).empty());
  EXPECT_EQ(programs[1].sums().at(0).size(), 3U);
  // It ended before its last call, and is charged all of them.
  EXPECT_THAT(results[0].summary, HasSubstr("\"calls_made\":1"));
  EXPECT_NEAR(results[0].epsilons.insider, Job::Parse(job.dump()).PlannedEpsilons().insider, 1e-9);
}

TEST(VectorProgram, EndsTheSessionWhereItIsWrong) {
  std::array<TwoRecords, 3> programs{TwoRecords(3), TwoRecords(3), TwoRecords(3)};
  programs[1].BringTooLittleIn(2);
  const auto run = [&](const nlohmann::json& job) {
    (void)Simulate(Job::Parse(job.dump()), {}, {.programs = {&programs[0], &programs[1], &programs[2]}});
  };
  EXPECT_THAT(data::ErrorText<DataError>([&] { run(SumsJob(3)); }),
              HasSubstr("call 2: found 1 numbers, expected whole vectors of 3 numbers"));
  EXPECT_EQ(programs[0].sums().size(), 1U);
  const nlohmann::json other = {
      {"version", 1},
      {"type", "histogram"},
      {"name", "colours"},
      {"data",
       {{"name", "c"}, {"format", "csv"}, {"rows", {4, 4, 4}}, {"header", false}, {"columns", {"a"}}}},
      {"histogram", {{"mode", "central"}, {"column", "a"}, {"values", {"x", "y"}}}},
      {"privacy", {{"epsilon", 1.0}}}};
  EXPECT_THAT(data::ErrorText<ConfigError>([&] { run(other); }),
              HasSubstr("type: found \"histogram\", expected a job whose vectors a program can bring"));
}

/// Without a word to its peers they would wait for ten minutes.
TEST(VectorProgram, ThatEndsTheSessionAloneEndsItsPeersAtOnce) {
  std::array<TwoRecords, 3> programs{TwoRecords(3), TwoRecords(3), TwoRecords(3)};
  programs[1].EndAfter(1);
  const auto start = std::chrono::steady_clock::now();
  EXPECT_THAT(data::ErrorText<ProtocolError>([&] {
                (void)Simulate(Job::Parse(SumsJob(3).dump()), {},
                               {.programs = {&programs[0], &programs[1], &programs[2]}});
              }),
              HasSubstr("party 1 sent a message of 0 bytes, expected 24, as who ends its part"));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::minutes(1));
}

/// Three parties over TLS with programs; how each ended.
template <typename Program>
std::array<std::string, 3> EndsOf(const ThreePartyFiles& files, std::array<Program, 3>& programs,
                                  bool resume = false, int calls = 2) {
  const auto toml = files.folder().Put("job.toml", Job::Parse(SumsJob(3, calls).dump()).Toml());
  return AtThree([&](int party) {
    const auto id = std::to_string(party);
    return std::to_string(RunParty(files[party], toml,
                                   {.out = files.folder() / ("out-" + id),
                                    .threads = 1,
                                    .resume = resume,
                                    .program = &programs.at(static_cast<std::size_t>(party))}));
  });
}

TEST(VectorProgram, LeavesWhatARunLeaves) {
  ThreePartyFiles files;
  (void)files.folder().Put("records.csv", "what the ledger is about");
  files.Append([](int party) {
    const auto id = std::to_string(party);
    return "[data]\nfile = \"records.csv\"\n[ledger]\nfile = \"ledger-" + id +
           ".jsonl\"\nepsilon_cap = 50.0\ndelta = 1e-5\n";
  });
  std::array<TwoRecords, 3> programs{TwoRecords(3), TwoRecords(3), TwoRecords(3)};
  EXPECT_EQ(EndsOf(files, programs), (std::array<std::string, 3>{"0", "0", "0"}));
  EXPECT_EQ(programs[2].sums(), programs[0].sums());
  const auto planned = Job::Parse(SumsJob(3).dump()).PlannedEpsilons();
  for (const char* out : {"out-0", "out-1", "out-2"}) {
    EXPECT_NEAR(RecordEpsilons(files.folder() / out / "record.json", 1e-5).insider, planned.insider, 1e-9);
    EXPECT_FALSE(std::filesystem::exists(files.folder() / out / "sums.npy"));
  }
  EXPECT_GT(std::filesystem::file_size(files.folder() / "ledger-1.jsonl"), 0U);
  EXPECT_EQ(EndsOf(files, programs, true), (std::array<std::string, 3>{"0", "0", "0"}));
  EXPECT_EQ(programs[2].sums().size(), 2U) << "a run that has finished makes no more calls";
}

/// Brings zeros, and fails in one call: before its vectors, or when it has the sum.
class Zeros : public VectorProgram {
 public:
  [[nodiscard]] std::int64_t records() const override { return 2; }
  void Begins(std::int64_t begun, std::int64_t shared) override { begins = {begun, shared}; }
  bool Bring(std::int64_t call, std::span<const std::int64_t> rows, const Add& add) override {
    if (call == fails_in) throw DataError("no vectors");
    brought.push_back(call);
    add(std::vector<double>(3 * rows.size()));
    return true;
  }
  void Opened(std::int64_t call, std::span<const double> /*sum*/) override {
    opened.push_back(call);
    if (call == fails_with) throw DataError("no use");
  }

  std::int64_t fails_in = 0;
  std::int64_t fails_with = 0;
  std::pair<std::int64_t, std::int64_t> begins{};
  std::vector<std::int64_t> brought{};
  std::vector<std::int64_t> opened{};
};

constexpr int kCalls = 7;

/// Three parties of a job of seven calls, with ledgers that have room for one such job and not for two.
class ResumedProgram : public testing::Test {
 protected:
  void SetUp() override {
    (void)files.folder().Put("records.csv", "what the ledger is about");
    planned = Job::Parse(SumsJob(3, kCalls).dump()).PlannedEpsilons().insider;
    files.Append([&](int party) {
      return "[data]\nfile = \"records.csv\"\n[ledger]\nfile = \"ledger-" + std::to_string(party) +
             ".jsonl\"\nepsilon_cap = " + std::to_string(1.4 * planned) + "\ndelta = 1e-5\n";
    });
  }

  /// Party 1 fails in its fifth call. Whether its word reaches the others before the sum of the fourth does
  /// is chance.
  void FailInTheFifthCall() {
    before[1].fails_in = 5;
    EXPECT_EQ(EndsOf(files, before, false, kCalls), (std::array<std::string, 3>{"3", "4", "3"}));
    EXPECT_EQ(before[1].opened, (std::vector<std::int64_t>{1, 2, 3, 4}));
  }

  /// Resumes, and expects the calls from `first` on and no others, at no further charge.
  void ExpectCallsFrom(std::int64_t first) {
    std::array<Zeros, 3> programs;
    EXPECT_EQ(EndsOf(files, programs, true, kCalls), (std::array<std::string, 3>{"0", "0", "0"}));
    std::vector<std::int64_t> calls;
    for (std::int64_t call = first; call <= kCalls; ++call) calls.push_back(call);
    for (const auto& program : programs) {
      EXPECT_EQ(program.brought, calls);
      EXPECT_EQ(program.opened, calls);
    }
    EXPECT_NEAR(RecordEpsilons(files.folder() / "out-1" / "record.json", 1e-5).insider, planned, 1e-9);
    EXPECT_FALSE(std::filesystem::exists(files.folder() / "out-1" / "checkpoint"));
  }

  ThreePartyFiles files;
  double planned = 0;
  std::array<Zeros, 3> before;
};

TEST_F(ResumedProgram, MakesTheCallsThatNobodyHadBegun) {
  FailInTheFifthCall();
  ExpectCallsFrom(std::max(before[0].brought.back(), before[2].brought.back()) + 1);
}

/// In the second session no call but its first begins, so that no sum of it has reached all.
TEST_F(ResumedProgram, SaysWhichSumsHaveReachedAll) {
  FailInTheFifthCall();
  const auto begun = std::max(before[0].brought.back(), before[2].brought.back());
  std::array<Zeros, 3> between;
  for (auto& program : between) program.fails_in = begun + 2;
  between[1].fails_in = begun + 1;
  EXPECT_THAT(EndsOf(files, between, true, kCalls), testing::Contains("4"));
  EXPECT_EQ(between[1].begins, std::pair(begun, begun - 3));
  std::array<Zeros, 3> after;
  EXPECT_EQ(EndsOf(files, after, true, kCalls), (std::array<std::string, 3>{"0", "0", "0"}));
  for (const auto& program : after) {
    EXPECT_EQ(program.begins.second, begun - 3);
    EXPECT_GE(program.begins.first, begun);
    EXPECT_LE(program.begins.first, begun + 1);
  }
}

TEST_F(ResumedProgram, BelievesWhoeverHasBegunMost) {
  FailInTheFifthCall();
  for (const char* lost : {"out-0", "out-1"}) std::filesystem::remove_all(files.folder() / lost);
  ExpectCallsFrom(before[2].brought.back() + 1);
}

TEST_F(ResumedProgram, MakesNoneWhereAllHaveBegun) {
  for (auto& program : before) program.fails_with = kCalls;
  EXPECT_THAT(EndsOf(files, before, false, kCalls),
              testing::Contains("4"));  // who has it says so to the others
  ExpectCallsFrom(kCalls + 1);
}

/// Its ledger would take the calls for those of the run that it has charged.
TEST_F(ResumedProgram, RefusesAPartyThatBeginsAnew) {
  FailInTheFifthCall();
  std::array<Zeros, 3> programs;
  const auto toml = files.folder().Put("job.toml", Job::Parse(SumsJob(3, kCalls).dump()).Toml());
  const auto ends = AtThree([&](int party) {
    const auto out = files.folder() / ("out-" + std::to_string(party) + (party == 2 ? "-new" : ""));
    return std::to_string(RunParty(files[party], toml,
                                   {.out = out,
                                    .threads = 1,
                                    .resume = party != 2,
                                    .program = &programs.at(static_cast<std::size_t>(party))}));
  });
  EXPECT_EQ(ends, (std::array<std::string, 3>{"2", "2", "2"}));
  for (const auto& program : programs) EXPECT_TRUE(program.brought.empty());
}

TEST_F(ResumedProgram, IsOfTheJobThatItBeganWith) {
  FailInTheFifthCall();
  std::array<Zeros, 3> programs;
  EXPECT_EQ(EndsOf(files, programs, true, kCalls + 1), (std::array<std::string, 3>{"2", "2", "2"}));
  EXPECT_TRUE(programs[0].brought.empty());
}

TEST(VectorProgram, ThatFailsEndsItsPeersAndKeepsTheCharge) {
  const ThreePartyFiles files;
  std::array<TwoRecords, 3> programs{TwoRecords(3), TwoRecords(3), TwoRecords(3)};
  programs[1].BringTooLittleIn(2);
  EXPECT_EQ(EndsOf(files, programs), (std::array<std::string, 3>{"3", "4", "3"}));
  EXPECT_LE(programs[0].sums().size(), 1U);  // word of the end may come before the first sum is read
  const auto planned = Job::Parse(SumsJob(3).dump()).PlannedEpsilons();
  for (const char* out : {"out-0", "out-1", "out-2"})
    EXPECT_NEAR(RecordEpsilons(files.folder() / out / "record.json", 1e-5).insider, planned.insider, 1e-9);
}

TEST(VectorProgram, EndsTheSessionInTheSameCallAsItsPeersOrInAnError) {
  for (const int ending : {1, 2, 3}) {
    const ThreePartyFiles files;
    std::array<TwoRecords, 3> programs{TwoRecords(3), TwoRecords(3), TwoRecords(3)};
    for (int party = 0; party < ending; ++party) programs.at(static_cast<std::size_t>(party)).EndAfter(1);
    const auto* code = ending == 3 ? "0" : "3";
    EXPECT_EQ(EndsOf(files, programs), (std::array<std::string, 3>{code, code, code})) << ending;
    const auto planned = Job::Parse(SumsJob(3).dump()).PlannedEpsilons();
    EXPECT_NEAR(RecordEpsilons(files.folder() / "out-2" / "record.json", 1e-5).insider, planned.insider,
                1e-9);
  }
}

TEST(VectorProgram, WantsNoFilesBesides) {
  ThreePartyFiles files;
  files.Append([](int) { return std::string("[data]\nvectors = \"v.npy\"\n"); });
  std::array<TwoRecords, 3> programs{TwoRecords(3), TwoRecords(3), TwoRecords(3)};
  EXPECT_EQ(EndsOf(files, programs), (std::array<std::string, 3>{"2", "2", "2"}));
}

}  // namespace
}  // namespace trefoil
