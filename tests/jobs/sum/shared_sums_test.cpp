#include "jobs/sum/shared_sums.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <mutex>

#include "base/error.h"
#include "data/formats/numpy/npy.h"
#include "jobs/config/toml/toml_reader.h"
#include "ml/ranks/rank_sums.h"
#include "tests/apps/temporary_folder.h"
#include "tests/support/error_text.h"
#include "tests/support/fixed_key.h"
#include "tests/support/thread_ranks.h"

namespace trefoil::jobs {
namespace {

using testing::HasSubstr;
using testing_support::ErrorText;

constexpr const char* kSharedJob = R"(
version = 1
type = "sum"
name = "sums"
[data]
name = "sums"
rows = [400, 0, 0]
[sum]
dimension = 5
norm_bound = 1.0
[privacy]
sigma = 1.0
delta = 1e-5
)";

SumSettings SharedJobWith(const std::vector<std::string>& assignments) {
  auto table = toml::parse(kSharedJob);
  for (const auto& one : assignments) SetValue(table, one);
  return ReadSumSettings(table, "sums.toml");
}

class SharedSumsTest : public testing::Test {
 protected:
  /// Numbers of which about half of the rows are longer than the bound.
  void WriteNumbers(const std::string& name, const std::vector<std::size_t>& shape, std::uint8_t key) {
    RandomStream stream(testing_support::FixedKey(key));
    std::size_t count = 1;
    for (const auto size : shape) count *= size;
    std::vector<double> numbers(count);
    for (double& number : numbers) number = std::ldexp(static_cast<double>(stream.NextWord()), -63) - 1;
    data::WriteNpy(folder_.path() / name, data::NpyFromDoubles(shape, numbers));
  }
  void WriteKeys(const std::string& name, const std::vector<std::int64_t>& keys) {
    data::WriteNpy(folder_.path() / name, data::NpyFromIntegers({keys.size()}, keys));
  }
  void Name(const std::string& key, const std::string& file) {
    party_.inputs["data." + key] = folder_.path() / file;
  }

  /// All slices of each call, one behind the other, as loaded by so many ranks of party 0; and how many
  /// records they say.
  [[nodiscard]] OwnSums LoadBy(int count, const SumSettings& job, std::uint8_t coins_key = 3) const {
    OwnSums all;
    std::mutex mutex;
    const auto height = ml::SliceOf(job.dimension, count);
    testing_support::RunRanks(count, {1}, [&](mpc::Context& party, mpc::Ranks& ranks) {
      if (party.self() > 0) return;
      // Only those of rank 0 are drawn.
      RandomStream coins(testing_support::FixedKey(ranks.rank() == 0 ? coins_key : 99));
      const auto own = LoadSharedSums(job, party_, "party.toml", coins, ranks);
      const std::lock_guard lock(mutex);
      all.rows = own.rows;
      all.of_calls.resize(own.of_calls.size(), mpc::RingMatrix::Zero(count * height, 1));
      for (std::size_t call = 0; call < own.of_calls.size(); ++call)
        all.of_calls[call].middleRows(ranks.rank() * height, height) = own.of_calls[call];
    });
    for (auto& sum : all.of_calls) sum = mpc::RingMatrix(sum.topRows(job.dimension));
    return all;
  }

  void ExpectThoseOfOneMachine(const SumSettings& job) const {
    RandomStream coins(testing_support::FixedKey(3));
    const auto expected = LoadOwnSums(job, party_, "party.toml", coins);
    for (const int count : {2, 3, 7}) {
      const auto found = LoadBy(count, job);
      EXPECT_EQ(found.rows, expected.rows);
      ASSERT_EQ(found.of_calls.size(), expected.of_calls.size());
      for (std::size_t call = 0; call < expected.of_calls.size(); ++call)
        EXPECT_TRUE((found.of_calls[call] == expected.of_calls[call]).all()) << count << " ranks";
    }
  }

  /// What such a rank of two throws.
  template <typename Error>
  [[nodiscard]] std::string ErrorOfRank(int rank, const SumSettings& job) const {
    const auto ends = testing_support::EndsOfRanks(2, {1}, [&](mpc::Context& party, mpc::Ranks& ranks) {
      RandomStream coins(testing_support::FixedKey(3));
      if (party.self() == 0) (void)LoadSharedSums(job, party_, "party.toml", coins, ranks);
    });
    const auto& end = ends.at(static_cast<std::size_t>(rank))[0];
    return ErrorText<Error>([&] {
      if (end) std::rethrow_exception(end);
    });
  }

  const TemporaryFolder folder_;
  PartyFile party_;
};

TEST_F(SharedSumsTest, AreThoseOfOneMachineByTheSameCoins) {
  WriteNumbers("v.npy", {301, 5}, 1);
  Name("vectors", "v.npy");
  ExpectThoseOfOneMachine(SharedJobWith({}));
  ExpectThoseOfOneMachine(SharedJobWith({"sum.sampling_rate=0.25"}));
  std::vector<std::int64_t> keys;
  for (std::int64_t row = 0; row < 301; ++row) keys.push_back(row * 7 % 151);
  WriteKeys("k.npy", keys);
  Name("keys", "k.npy");
  const std::vector<std::string> groups{"privacy.unit=group", "privacy.max_group_rows=2"};
  ExpectThoseOfOneMachine(SharedJobWith(groups));
  ExpectThoseOfOneMachine(SharedJobWith({groups[0], groups[1], "sum.sampling_rate=0.5"}));
}

TEST_F(SharedSumsTest, AreThoseOfOneMachineOfSeveralCallsAndOfOwnersSums) {
  for (const std::size_t call : {1U, 2U, 3U}) {
    // Of the second file fewer rows than ranks.
    WriteNumbers("vectors-" + std::to_string(call) + ".npy", {call == 2 ? 2U : 100U, 5}, 4);
    WriteNumbers("vector-" + std::to_string(call) + ".npy", {5}, static_cast<std::uint8_t>(call));
  }
  Name("vectors", "");
  ExpectThoseOfOneMachine(SharedJobWith({"sum.calls=3", "sum.sampling_rate=0.5"}));
  party_ = {};
  Name("vector", "");
  ExpectThoseOfOneMachine(SharedJobWith({"sum.calls=3", "sum.summed=owner", "sum.allowance=0.001"}));
  party_ = {};
  party_.id = 1;  // declares no rows
  ExpectThoseOfOneMachine(SharedJobWith({"sum.calls=3"}));
}

// Blocks that are read together end within the rows of a rank.
TEST_F(SharedSumsTest, AreThoseOfOneMachineOfMoreRowsThanAreReadAtOnce) {
  WriteNumbers("v.npy", {400, 1000}, 1);
  Name("vectors", "v.npy");
  ExpectThoseOfOneMachine(SharedJobWith({"sum.dimension=1000"}));
}

/// The law itself, of four records in two groups, which lie across two machines: each group is in a call or
/// not with probability q, whole, and independently. The four outcomes' numbers, of 2,000 draws, are within
/// 5.5 deviations of what is expected: of four binomials, one in 6e6 keys fails.
TEST_F(SharedSumsTest, TakeGroupsByTheLawOfOneMachine) {
  constexpr int kDraws = 2000;
  constexpr double kRate = 0.25;
  data::WriteNpy(folder_.path() / "v.npy",
                 data::NpyFromDoubles({4, 5}, std::vector<double>{.5, 0,  0, 0, 0, 0,  .5, 0, 0, 0,
                                                                  0,  .5, 0, 0, 0, .5, 0,  0, 0, 0}));
  WriteKeys("k.npy", {8, 9, 9, 8});
  Name("vectors", "v.npy");
  Name("keys", "k.npy");
  const auto job = SharedJobWith({"privacy.unit=group", "privacy.max_group_rows=2", "sum.calls=1",
                                  "sum.sampling_rate=0.25", "sum.fraction_bits=1", "sum.norm_bound=4"});
  std::array<std::array<int, 2>, 2> taken{};
  RandomStream coins(testing_support::FixedKey(5));
  std::mutex mutex;
  testing_support::RunRanks(2, {1}, [&](mpc::Context& party, mpc::Ranks& ranks) {
    if (party.self() > 0) return;
    for (int draw = 0; draw < kDraws; ++draw) {
      const auto slice = LoadSharedSums(job, party_, "party.toml", coins, ranks).of_calls.at(0);
      if (ranks.rank() > 0) continue;
      const std::lock_guard lock(mutex);
      // Two records of half a unit's group: two lattice units, or none.
      ASSERT_TRUE((slice(0, 0) == 0 || slice(0, 0) == 2) && (slice(1, 0) == 0 || slice(1, 0) == 2));
      ++taken[slice(0, 0) / 2][slice(1, 0) / 2];
    }
  });
  for (const std::size_t one : {0U, 1U}) {
    for (const std::size_t other : {0U, 1U}) {
      const double p = (one == 1 ? kRate : 1 - kRate) * (other == 1 ? kRate : 1 - kRate);
      EXPECT_NEAR(taken[one][other], kDraws * p, 5.5 * std::sqrt(kDraws * p * (1 - p)));
    }
  }
}

TEST_F(SharedSumsTest, NameWhatOneMachineFindsInItsPart) {
  std::vector<double> numbers(20);
  numbers[17] = std::numeric_limits<double>::infinity();
  data::WriteNpy(folder_.path() / "v.npy", data::NpyFromDoubles({4, 5}, numbers));
  Name("vectors", "v.npy");
  EXPECT_THAT(ErrorOfRank<DataError>(1, SharedJobWith({})),
              HasSubstr("v.npy: record 4, number 3: found inf, expected a finite number"));
  EXPECT_NE(ErrorOfRank<NetworkError>(0, SharedJobWith({})), "");
  party_ = {};
  numbers.resize(5);
  numbers[4] = 1e9;
  data::WriteNpy(folder_.path() / "s.npy", data::NpyFromDoubles({5}, numbers));
  Name("vector", "s.npy");
  EXPECT_THAT(ErrorOfRank<DataError>(1, SharedJobWith({"sum.summed=owner", "sum.allowance=0.001"})),
              HasSubstr("s.npy: number 5: found a number of larger magnitude, expected at most"));
}

/// Ranks between whose calls something happens: before one scatters.
class MeddledRanks final : public mpc::Ranks {
 public:
  MeddledRanks(mpc::Ranks& ranks, std::function<void()> meddle) : ranks_(ranks), meddle_(std::move(meddle)) {}
  [[nodiscard]] int rank() const override { return ranks_.rank(); }
  [[nodiscard]] int count() const override { return ranks_.count(); }
  void Broadcast(std::span<std::byte> bytes) override { ranks_.Broadcast(bytes); }
  void Scatter(std::span<const std::byte> all, std::span<std::byte> own) override {
    meddle_();
    ranks_.Scatter(all, own);
  }
  void Gather(std::span<const std::byte> own, std::span<std::byte> all) override { ranks_.Gather(own, all); }
  void SumAndScatter(std::span<const mpc::Word> words, std::span<mpc::Word> own) override {
    ranks_.SumAndScatter(words, own);
  }
  void GatherToAll(std::span<const mpc::Word> own, std::span<mpc::Word> all) override {
    ranks_.GatherToAll(own, all);
  }
  void Barrier() override { ranks_.Barrier(); }
  void Abort() noexcept override { ranks_.Abort(); }
  [[nodiscard]] std::unique_ptr<mpc::Ranks> NewChannel() override { return ranks_.NewChannel(); }

 private:
  mpc::Ranks& ranks_;
  std::function<void()> meddle_;
};

/// What rank 1 finds where its file is `of_rank_1`, and that is meddled with between its opening and its
/// reading.
TEST_F(SharedSumsTest, RefuseAnotherFileAtOneRankAtFirstAndInTheMiddle) {
  WriteNumbers("v.npy", {300, 5}, 1);
  WriteNumbers("other.npy", {300, 5}, 2);
  WriteNumbers("shorter.npy", {298, 5}, 1);
  Name("vectors", "v.npy");
  const auto job = SharedJobWith({"sum.sampling_rate=0.5"});
  const auto found = [&](const std::string& of_rank_1, const std::function<void()>& meddle) {
    auto other = party_;
    other.inputs["data.vectors"] = folder_.path() / of_rank_1;
    const auto ends = testing_support::EndsOfRanks(2, {1}, [&](mpc::Context& party, mpc::Ranks& ranks) {
      if (party.self() > 0) return;
      RandomStream coins(testing_support::FixedKey(3));
      const bool first = ranks.rank() == 0;
      MeddledRanks meddled(ranks, first ? [] {} : meddle);
      (void)LoadSharedSums(job, first ? party_ : other, "party.toml", coins, meddled);
    });
    return ErrorText<DataError>([&] {
      if (ends.at(1)[0]) std::rethrow_exception(ends.at(1)[0]);
    });
  };
  EXPECT_THAT(found("other.npy", [] {}), HasSubstr("other.npy: found another file than rank 0's"));
  EXPECT_THAT(found("shorter.npy", [] {}), HasSubstr("shorter.npy: found another file than rank 0's"));
  const auto copy = folder_.path() / "copy.npy";
  std::filesystem::copy_file(folder_.path() / "v.npy", copy);
  // Another file in its place is none of its business: what was opened is what is read.
  EXPECT_EQ(found("copy.npy", [&] { std::filesystem::rename(folder_.path() / "other.npy", copy); }), "");
  std::filesystem::remove(copy);
  std::filesystem::copy_file(folder_.path() / "v.npy", copy);
  EXPECT_THAT(found("copy.npy", [&] { std::ofstream(copy, std::ios::in | std::ios::out).seekp(200) << "x"; }),
              HasSubstr("copy.npy: found another file than rank 0's"));
}

/// What `trefoil check` says, of one machine.
TEST_F(SharedSumsTest, AreCheckedByOneMachine) {
  WriteNumbers("v.npy", {301, 5}, 1);
  Name("vectors", "v.npy");
  EXPECT_EQ(CheckSharedSums(SharedJobWith({}), party_, "party.toml"), 301);
  std::vector<double> numbers(20);
  numbers[17] = std::numeric_limits<double>::infinity();
  data::WriteNpy(folder_.path() / "v.npy", data::NpyFromDoubles({4, 5}, numbers));
  EXPECT_THAT(ErrorText<DataError>([&] { (void)CheckSharedSums(SharedJobWith({}), party_, "party.toml"); }),
              HasSubstr("v.npy: record 4, number 3: found inf, expected a finite number"));
  party_ = {};
  data::WriteNpy(folder_.path() / "s.npy", data::NpyFromDoubles({5}, std::vector<double>(5, 1e9)));
  Name("vector", "s.npy");
  EXPECT_THAT(ErrorText<DataError>([&] {
                (void)CheckSharedSums(SharedJobWith({"sum.summed=owner", "sum.allowance=0.001"}), party_,
                                      "party.toml");
              }),
              HasSubstr("s.npy: number 1: found a number of larger magnitude"));
}

TEST_F(SharedSumsTest, NameWhatIsWrongAtAllMachinesAtTheFirst) {
  EXPECT_THAT(ErrorOfRank<ConfigError>(0, SharedJobWith({})),
              HasSubstr("party.toml: data.vectors: found nothing"));
  WriteNumbers("v.npy", {401, 5}, 1);
  Name("vectors", "v.npy");
  EXPECT_THAT(ErrorOfRank<DataError>(0, SharedJobWith({})),
              HasSubstr("found 401 records, expected at most the 400"));
  EXPECT_NE(ErrorOfRank<NetworkError>(1, SharedJobWith({})), "");
}

}  // namespace
}  // namespace trefoil::jobs
