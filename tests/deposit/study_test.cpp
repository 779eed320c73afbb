#include "deposit/study.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "base/secrets/sha256.h"
#include "jobs/job.h"
#include "tests/apps/temporary_folder.h"
#include "tests/deposit/sample_study.h"
#include "tests/support/error_text.h"

namespace trefoil::deposit {
namespace {

using testing::HasSubstr;
using testing_support::ErrorText;

std::string Replaced(std::string text, const std::string& what, const std::string& by) {
  const auto at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return text.replace(at, what.size(), by);
}

std::array<PublicKey, 3> KeysOf(const Study& study) {
  return {study.parties[0].key, study.parties[1].key, study.parties[2].key};
}

TEST(Study, HasTheRecordsOfItsJobAndThePartiesKeys) {
  const TemporaryFolder folder;
  const auto study = SampleStudy(folder);
  const std::string keys = ToHex(study.parties[1].key);
  const auto json = JsonOf(study);
  EXPECT_THAT(
      json,
      HasSubstr(R"({"columns":{"classes":3,"column":[{"kind":"number","mean":0.0,"name":"a","scale":1.0},)"));
  EXPECT_THAT(
      json,
      HasSubstr(
          R"("features":{"method":"none","row_norm":2.0},"fraction_bits":16,"name":"sample","party":[)"));
  EXPECT_THAT(json, HasSubstr("\"id\":1,\"key\":\"" + keys + "\"}"));
  for (const auto* absent : {"\"rows\"", "\"partition\"", "\"data\"", "secret-name", "steps"})
    EXPECT_EQ(json.find(absent), std::string::npos) << absent;
  EXPECT_EQ(ToHex(IdOf(study)), Sha256Hex(json));
  // As another program writes the same JSON: a study's id never changes.
  EXPECT_EQ(ToHex(IdOf(study)), "f51210e82ab7d11e0effb163b710ac2d2a3e925034721e45b09a49ba4d942037") << json;
  const auto again = ReadStudy(folder.Write("study.toml", TomlOf(study)));
  EXPECT_EQ(JsonOf(again), json);
  EXPECT_EQ(again.records.data.columns.size(), 4U);
  EXPECT_EQ(again.parties[2].key, study.parties[2].key);
}

TEST(Study, OfBatchesIsOfOneJobAndRun) {
  const TemporaryFolder folder;
  const auto study = SampleStudyOfBatches(folder);
  EXPECT_THAT(JsonOf(study),
              testing::StartsWith(R"({"batches":{"job":")" + std::string(64, 'a') +
                                  R"(","records":6,"rows":4,"run":"spring","sampling_rate":0.4,"steps":5})"));
  const auto again = ReadStudy(folder.Write("study.toml", TomlOf(study)));
  EXPECT_EQ(JsonOf(again), JsonOf(study));
  EXPECT_EQ(RowsOfBatches(again.records), 20U);
  EXPECT_FALSE(RowsOfBatches(SampleStudy(folder).records));
  EXPECT_NE(IdOf(study), IdOf(SampleStudy(folder)));
  for (const auto& change : std::vector<void (*)(jobs::BatchSpec&)>{
           [](jobs::BatchSpec& one) { one.job[0] = 'b'; }, [](jobs::BatchSpec& one) { one.run = "summer"; },
           [](jobs::BatchSpec& one) { one.sampling_rate = 0.5; },
           [](jobs::BatchSpec& one) { one.steps = 6; }}) {
    auto other = study;
    change(*other.records.store.batches);
    EXPECT_NE(IdOf(other), IdOf(study));
  }
  auto large = SampleRecordsOfBatches(folder);
  large.store.batches->steps = 10'000'000;
  large.store.batches->rows = 1000;
  EXPECT_THAT(ErrorText<ConfigError>([&] { (void)MakeStudy(large, KeysOf(study)); }),
              HasSubstr("batches: found 10000000 steps of 1000 rows, expected at most"));
}

TEST(Study, IsRefusedWhereItIsChangedIntoNone) {
  const TemporaryFolder folder;
  const auto study = SampleStudy(folder);
  const auto text = TomlOf(study);
  const auto key = ToHex(study.parties[0].key);
  const struct {
    std::string what, by, error;
  } cases[] = {
      {"id = 1", "id = 2", "id: found 2, expected 0, 1 and 2, in this order"},
      {"\"" + key + "\"", "\"" + key.substr(2) + "\"", "expected 64 hexadecimal digits"},
      {"\"" + key + "\"", "\"" + std::string(64, '0') + "\"", "expected a key that was made by trefoil init"},
      {study.parties[0].fingerprint, study.parties[1].fingerprint, "fingerprint: found"},
      {"fraction_bits = 16", "", "missing fraction_bits"},
      {"[columns]\n", "[columns]\nrows = [1, 1, 1]\n", "unknown key columns.rows"},
      {"version = 1", "version = 2", "version: found 2"},
      {"row_norm = 2.0", "row_norm = 1e9", "squared norms of deposited rows could leave the ring"},
  };
  for (const auto& one : cases) {
    const auto file = folder.Write("bad.toml", Replaced(text, one.what, one.by));
    EXPECT_THAT(ErrorText<ConfigError>([&] { (void)ReadStudy(file); }), HasSubstr(one.error)) << one.by;
  }
  auto twice = study;
  twice.parties[2] = {.id = 2, .key = study.parties[0].key, .fingerprint = study.parties[0].fingerprint};
  EXPECT_THAT(ErrorText<ConfigError>([&] { (void)ReadStudy(folder.Write("bad.toml", TomlOf(twice))); }),
              HasSubstr("found one deposit key for parties 2 and 0"));
  const auto two = text.substr(0, text.rfind("[[party]]"));
  EXPECT_THAT(ErrorText<ConfigError>([&] { (void)ReadStudy(folder.Write("bad.toml", two)); }),
              HasSubstr("found 2 [[party]] tables"));
}

TEST(Study, IsOfWholeRecords) {
  auto records = SampleRecords(TemporaryFolder());
  records.data.vertical = true;
  EXPECT_THAT(ErrorText<ConfigError>([&] { (void)MakeStudy(records, {}); }), HasSubstr("data.partition"));
  records = SampleRecords(TemporaryFolder());
  records.data.columns[0].kind = data::ColumnKind::kWeight;
  EXPECT_THAT(ErrorText<ConfigError>([&] { (void)MakeStudy(records, {}); }),
              HasSubstr("data.column: found \"a\" of kind \"weight\", expected none for a study"));
}

// Nobody is sent a study that parties and owners cannot read, whatever is wrong with it.
TEST(Study, IsMadeAsItIsReadOrNotAtAll) {
  const TemporaryFolder folder;
  auto records = SampleRecords(folder);
  const auto study = MakeStudy(records, KeysOf(SampleStudy(folder)));
  EXPECT_EQ(JsonOf(ParseStudy(JsonOf(study), "study")), JsonOf(study));
  records.data.columns[1].name = records.data.columns[0].name;
  EXPECT_THAT(ErrorText<ConfigError>([&] { (void)MakeStudy(records, KeysOf(study)); }), HasSubstr("\"a\""));
}

TEST(Study, IsOfRowsThatNothingIsSubtractedFrom) {
  auto records = SampleRecords(TemporaryFolder());
  records.features.means = {0.5};
  EXPECT_THAT(ErrorText<ConfigError>([&] { (void)MakeStudy(records, {}); }),
              HasSubstr("features.means: found"));
}

/// A job's records that only their sizes matter of.
jobs::RecordSchema Sized(std::int64_t features, double row_norm, int fraction_bits) {
  jobs::RecordSchema records;
  records.data.features = features;
  records.data.classes = 10;
  records.features.row_norm = row_norm;
  records.fraction_bits = fraction_bits;
  return records;
}

TEST(RowLayout, HasTheLeastModulusThatHoldsTheRows) {
  EXPECT_EQ(LayoutOf(Sized(784, 1.0, 16)).feature_bits, 19);
  EXPECT_EQ(LayoutOf(Sized(784, 1.0, 16)).row_bytes(), 784 * 3 + 8 * 11U);
  for (const double norm : {0.01, 0.5, 1.0, 1.9999, 2.0, 3.7}) {
    for (const int bits : {8, 16, 20}) {
      const auto b = LayoutOf(Sized(100, norm, bits)).feature_bits;
      EXPECT_LT(norm * std::ldexp(1.0, bits), std::ldexp(1.0, b - 2));
      EXPECT_TRUE(b == 3 || norm * std::ldexp(1.0, bits) >= std::ldexp(1.0, b - 3));
    }
  }
}

TEST(RowLayout, IsRefusedWhereSquaredNormsCouldWrap) {
  // R = 1, 20 bits: b = 23, and (p + 1) 2^48 < 2^63 up to p = 2^15 - 2.
  EXPECT_EQ(LayoutOf(Sized((1 << 15) - 2, 1.0, 20)).feature_bits, 23);
  EXPECT_THAT(ErrorText<ConfigError>([] { (void)LayoutOf(Sized((1 << 15) - 1, 1.0, 20)); }),
              HasSubstr("fraction_bits: found 20"));
  EXPECT_THROW((void)LayoutOf(Sized(1, 1024.0, 24)), ConfigError);
}

}  // namespace
}  // namespace trefoil::deposit
