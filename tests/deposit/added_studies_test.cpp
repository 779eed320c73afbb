#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/error.h"
#include "deposit/study.h"
#include "jobs/job.h"
#include "tests/apps/temporary_folder.h"
#include "tests/deposit/sample_study.h"
#include "tests/support/error_text.h"

namespace trefoil::deposit {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;
using testing_support::ErrorText;

constexpr const char* kAddedVectors = R"(version = 1
type = "sum"
name = "sums"
[data]
name = "sums"
source = "store"
capacity = 20
[sum]
dimension = 7
norm_bound = 0.5
[privacy]
sigma = 1.0
delta = 1e-5
)";
constexpr const char* kAddedStatistics = R"(version = 1
type = "statistics"
name = "people"
[data]
name = "secret-name"
format = "csv"
source = "store"
capacity = 20
[[data.column]]
name = "age"
low = 0.0
high = 100.0
edges = [18.0]
[statistics]
bins = 5
probabilities = [0.5]
table = [{ rows = "age" }]
[privacy]
sigma = 1.0
delta = 1e-5
)";

const std::string kBatches = "[batches]\njob = \"" + std::string(64, 'a') + "\"\n" + R"(run = "once"
steps = 3
rows = 4
sampling_rate = 0.5
records = 10
[[party]])";

Study StudyOf(const char* job) {
  const TemporaryFolder folder;
  std::array<PublicKey, 3> keys{};
  for (std::size_t i = 0; i < keys.size(); ++i)
    keys[i] = SamplePair(KeyKind::kParty, static_cast<int>(i)).known;
  return MakeStudy(*jobs::ReadJob(folder.Write("job.toml", job))->Records(), keys);
}

Study ReadBack(const Study& study, const std::string& from = "", const std::string& to = "") {
  const TemporaryFolder folder;
  auto text = TomlOf(study);
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return ReadStudy(folder.Write("study.toml", text.replace(at, from.size(), to)));
}

std::string WhyNot(const Study& study, const std::string& from, const std::string& to) {
  return ErrorText<ConfigError>([&] { (void)ReadBack(study, from, to); });
}

TEST(AddedStudies, AreReadBackAsTheJobHasThem) {
  for (const auto* job : {kAddedVectors, kAddedStatistics}) {
    const auto study = StudyOf(job);
    const auto again = ReadBack(study);
    EXPECT_EQ(JsonOf(again), JsonOf(study));
    EXPECT_TRUE(again.records.added_up());
    const auto layout = LayoutOf(again.records);
    EXPECT_EQ(layout.features, LayoutOf(study.records).features);
    EXPECT_EQ(layout.feature_bits, LayoutOf(study.records).feature_bits);
    EXPECT_EQ(layout.label_words, 1);
  }
}

TEST(AddedStudies, SayWhatAnOwnerHasToKnowAndNoMore) {
  const auto vectors = StudyOf(kAddedVectors);
  EXPECT_THAT(JsonOf(vectors), testing::StartsWith(R"({"fraction_bits":24,"name":"sums","party":[)"));
  EXPECT_THAT(JsonOf(vectors), HasSubstr(R"("vectors":{"dimension":7,"norm_bound":0.5},"version":1})"));
  const auto layout = LayoutOf(vectors.records);
  EXPECT_EQ(layout.features, 7);
  EXPECT_EQ(layout.feature_bits, 26);  // 2^23 < 2^(b - 2)
  const auto statistics = StudyOf(kAddedStatistics);
  EXPECT_EQ(LayoutOf(statistics.records).features, 1 + 3 + 5 + 3);
  for (const auto* absent : {"secret-name", "probabilities", "capacity", "columns", "features", "rows\":["})
    EXPECT_EQ(JsonOf(statistics).find(absent), std::string::npos) << absent;
  EXPECT_NE(IdOf(vectors), IdOf(statistics));
}

TEST(AddedStudies, AreRefusedWhereTheySayTwoThings) {
  const auto vectors = StudyOf(kAddedVectors);
  const auto statistics = StudyOf(kAddedStatistics);
  EXPECT_THAT(WhyNot(vectors, "[vectors]", "[columns]\nformat = \"npy\"\n[vectors]"),
              HasSubstr("columns: found it beside [vectors] or [statistics]"));
  EXPECT_THAT(WhyNot(statistics, "[[party]]", "[vectors]\ndimension = 3\nnorm_bound = 1.0\n[[party]]"),
              HasSubstr("vectors: found it beside [statistics]"));
  EXPECT_THAT(WhyNot(statistics, "fraction_bits = 24", "fraction_bits = 23"),
              HasSubstr("fraction_bits: found 23, expected 24, for rows of 12 numbers"));
  EXPECT_THAT(WhyNot(statistics, "bins = 5", "bins = 1"), HasSubstr("statistics.bins: found 1"));
  auto coarse = statistics;
  coarse.records.statistics->bins = 4096;
  coarse.records.statistics->tables.resize(8, coarse.records.statistics->tables.front());
  coarse.records.statistics->weights = {1, 1, 0.0011, 1, 999};
  EXPECT_THAT(WhyNot(coarse, "", ""), MatchesRegex(".*/study.toml: statistics.weights: quantiles have .*"));
  EXPECT_THAT(WhyNot(statistics, "[[party]]", kBatches), HasSubstr("batches: found it beside [vectors] or"));
  EXPECT_THAT(WhyNot(vectors, "[[party]]", kBatches), HasSubstr("batches: found it beside [vectors] or"));
  EXPECT_THAT(WhyNot(vectors, "norm_bound = 0.5", "norm_bound = 1e-9"),
              HasSubstr("vectors.norm_bound: found 1e-09, expected more than 2^-24, the unit of a number"));
  EXPECT_THAT(WhyNot(vectors, "norm_bound = 0.5", "norm_bound = 100000.0"),
              HasSubstr("squared norms of deposited rows could leave the ring"));
}

}  // namespace
}  // namespace trefoil::deposit
