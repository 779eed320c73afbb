#include "jobs/sum/own_sums.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/error.h"
#include "tests/apps/temporary_folder.h"
#include "tests/support/error_text.h"
#include "tests/support/fixed_key.h"

namespace trefoil::jobs {
namespace {

using testing::HasSubstr;
using testing_support::ErrorText;
using Rows = std::vector<std::vector<double>>;

constexpr const char* kSumsJob = R"(
version = 1
type = "sum"
name = "sums"
[data]
name = "sums"
rows = [1000, 0, 4]
[sum]
dimension = 2
norm_bound = 1.0
fraction_bits = 20
[privacy]
sigma = 1.0
delta = 1e-5
)";

SumSettings SumsWith(const std::string& key = "", const std::string& value = "") {
  auto table = toml::parse(kSumsJob);
  if (!key.empty()) SetValue(table, key + "=" + value);
  if (value == "owner") SetValue(table, "sum.allowance=0.001");
  return ReadSumSettings(table, "sums.toml");
}

class OwnSumsTest : public testing::Test {
 protected:
  [[nodiscard]] std::filesystem::path Write(const std::string& name, const Rows& rows, bool vector = false) {
    std::vector<double> values;
    for (const auto& row : rows) values.insert(values.end(), row.begin(), row.end());
    const std::size_t columns = rows.empty() ? 2 : rows[0].size();
    const auto file = folder_.path() / name;
    data::WriteNpy(file, data::NpyFromDoubles(
                             vector ? std::vector{columns} : std::vector{rows.size(), columns}, values));
    return file;
  }

  [[nodiscard]] OwnSums Load(const SumSettings& job) {
    RandomStream coins(testing_support::FixedKey(3));
    return LoadOwnSums(job, party_, "party.toml", coins);
  }

  /// Units of the first call's sum.
  [[nodiscard]] std::vector<std::int64_t> SumOf(const SumSettings& job) {
    const auto sum = Load(job).of_calls.at(0);
    std::vector<std::int64_t> units;
    for (mpc::Index k = 0; k < sum.size(); ++k) units.push_back(mpc::Signed(sum.data()[k]));
    return units;
  }

  TemporaryFolder folder_;
  PartyFile party_;
};

constexpr std::int64_t kOne = 1 << 20;

TEST_F(OwnSumsTest, AddsVectorsThatItHasShortened) {
  party_.inputs["data.vectors"] = Write("v.npy", {{0.5, -0.25}, {3, 4}, {0.25, 0.25}});
  const auto sum = SumOf(SumsWith());
  // (3, 4) becomes (0.6, 0.8), rounded towards zero.
  EXPECT_NEAR(static_cast<double>(sum[0]), 1.35 * kOne, 2);
  EXPECT_NEAR(static_cast<double>(sum[1]), 0.8 * kOne, 2);
  EXPECT_EQ(Load(SumsWith()).rows, 3);
}

TEST_F(OwnSumsTest, TakesEveryUnitByACoinOfItsOwnInEveryCall) {
  Rows rows;
  std::vector<std::int64_t> keys;
  for (int k = 0; k < 1000; ++k) {
    rows.push_back({0.5, 0});
    keys.push_back(7 - k / 2);
  }
  (void)Write("vectors-1.npy", rows);
  (void)Write("vectors-2.npy", rows);
  party_.inputs["data.vectors"] = folder_.path();
  auto job = SumsWith("sum.calls", "2");
  job.sampling_rate = 0.3;
  const auto sampled = [&](double rows_a_unit) {
    const auto own = Load(job);
    std::vector<double> units;
    for (const auto& sum : own.of_calls)
      units.push_back(static_cast<double>(sum.data()[0]) / (0.5 * kOne * rows_a_unit));
    return units;
  };
  // Binomial, 1000 or 500 coins: six deviations, a false alarm for one key in 500 million at each of four.
  const auto records = sampled(1);
  for (const double units : records) EXPECT_NEAR(units, 300, 6 * std::sqrt(210.0));
  EXPECT_NE(records[0], records[1]);
  job.unit = dp::PrivacyUnit::kGroup;
  job.max_group_rows = 2;
  for (const char* name : {"keys-1.npy", "keys-2.npy"})
    data::WriteNpy(folder_.path() / name, data::NpyFromIntegers({keys.size()}, keys));
  party_.inputs["data.keys"] = folder_.path();
  for (const double units : sampled(2)) {
    EXPECT_NEAR(units, 150, 6 * std::sqrt(105.0));
    EXPECT_EQ(units, std::floor(units)) << "half a group was taken";
  }
  job.max_group_rows = 1;
  EXPECT_THROW((void)Load(job), DataError);
}

TEST_F(OwnSumsTest, TakesWhatAnOwnerSummed) {
  party_.inputs["data.vector"] = Write("v.npy", {{2.5, -3.9999999}}, true);
  party_.id = 2;
  auto job = SumsWith("sum.summed", "owner");
  job.allowance = 0.001;
  EXPECT_EQ(SumOf(job), (std::vector<std::int64_t>{5 * kOne / 2, -4 * kOne + 1}));
  party_.inputs["data.vector"] = Write("v.npy", {{4.1, 0}}, true);
  EXPECT_THAT(ErrorText<std::exception>([&] { (void)Load(job); }),
              HasSubstr("v.npy: number 1: found a number of larger magnitude, expected at most 4.004"));
  party_.inputs["data.vectors"] = Write("w.npy", {{1, 0}});
  EXPECT_THAT(ErrorText<std::exception>([&] { (void)Load(job); }),
              HasSubstr("party.toml: data.vectors: found a path, expected none"));
}

TEST_F(OwnSumsTest, IsZeroWhereThereAreNoRecords) {
  party_.id = 1;
  EXPECT_EQ(SumOf(SumsWith()), (std::vector<std::int64_t>{0, 0}));
  party_.id = 0;
  party_.inputs["data.vectors"] = Write("v.npy", {});
  EXPECT_EQ(SumOf(SumsWith()), (std::vector<std::int64_t>{0, 0}));
}

TEST_F(OwnSumsTest, RefusesWhatTheJobDoesNotDeclare) {
  const auto refused = [&](const Rows& rows, const std::string& text) {
    party_.inputs["data.vectors"] = Write("v.npy", rows);
    EXPECT_THAT(ErrorText<std::exception>([&] { (void)Load(SumsWith()); }), HasSubstr(text));
    EXPECT_THROW((void)Load(SumsWith()), DataError) << text;
  };
  const double infinity = std::numeric_limits<double>::infinity();
  refused({{1, 2}, {std::nan(""), 0}}, "record 2, number 1: found nan, expected a finite number");
  refused({{1, -infinity}}, "record 1, number 2: found -inf");
  refused({{1, 2, 3}}, "found shape (1, 3), expected vectors of 2 numbers");
  refused(Rows(1001, {0, 0}), "found 1001 records, expected at most the 1000");
  party_.inputs["data.vectors"].clear();
  EXPECT_THAT(ErrorText<std::exception>([&] { (void)Load(SumsWith()); }),
              HasSubstr("data.vectors: found nothing, expected this party's NPY file"));
  EXPECT_THROW((void)Load(SumsWith()), ConfigError);
  // Huge, but a number: shortened like any other.
  party_.inputs["data.vectors"] = Write("v.npy", {{1e308, 1e308}});
  EXPECT_NEAR(static_cast<double>(SumOf(SumsWith())[0]), std::sqrt(0.5) * kOne, 2);
}

TEST(SumSettings, HasALatticeThatTheRingHoldsAndASensitivityOfWholeUnits) {
  auto job = SumsWith();
  EXPECT_EQ(SensitivityInUnits(job), std::uint64_t{kOne});
  job.max_group_rows = 3;
  EXPECT_EQ(SensitivityInUnits(job), 3 * std::uint64_t{kOne});
  job.norm_bound = 0.3;  // down: no vector is longer
  EXPECT_EQ(NormInUnits(job), 314572U);
  job = SumsWith("sum.summed", "owner");
  job.allowance = 0.5;
  EXPECT_EQ(SensitivityInUnits(job), std::uint64_t{kOne} + kOne / 2 + 2);
  // 8000 records of 2^50 units, and noise, below 2^63.
  job = SumsWith("sum.fraction_bits", "50");
  job.rows = {8000, 0, 0};
  EXPECT_NO_THROW(RequireSumInRing(job, 1));
  EXPECT_THAT(ErrorText<std::exception>([&] { RequireSumInRing(job, 100); }),
              HasSubstr("sum.fraction_bits: found 50, expected at most 49"));
  job.rows[1] = 200;
  EXPECT_THROW(RequireSumInRing(job, 1), ConfigError);
  job.fraction_bits = 51;
  EXPECT_THROW((void)NormInUnits(job), ConfigError);
}

}  // namespace
}  // namespace trefoil::jobs
