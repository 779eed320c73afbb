#include "jobs/histogram/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "jobs/config/toml/toml_reader.h"
#include "jobs/job.h"
#include "protocols/arithmetic/input.h"
#include "tests/apps/temporary_folder.h"
#include "tests/jobs/edit_case.h"
#include "tests/jobs/job_on_deposits.h"
#include "tests/support/error_text.h"

namespace trefoil::jobs {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing_support::ErrorText;

constexpr const char* kCountedFiles = R"(version = 1
type = "histogram"
name = "wards"
[data]
name = "wards"
format = "csv"
rows = [20, 20, 20]
[histogram]
mode = "central"
column = "y"
values = ["a", "b"]
[privacy]
epsilon = 1.0
)";

constexpr const char* kCountedStore = R"(version = 1
type = "histogram"
name = "wards"
[data]
name = "wards"
format = "csv"
source = "store"
capacity = 60
classes = 3
label = { column = "y", values = ["x", "y", "z"] }
[[data.column]]
name = "age"
[features]
row_norm = 1.5
[histogram]
mode = "central"
[privacy]
epsilon = 1.0
)";

constexpr const char* kCountedArrays = R"(version = 1
type = "histogram"
name = "digits"
[data]
name = "digits"
format = "npy"
source = "store"
capacity = 60
classes = 4
features = 5
[histogram]
mode = "central"
noise = "gaussian"
[privacy]
sigma = 2.0
delta = 1e-5
)";

HistogramSettings ReadCounted(const std::string& text, const std::vector<std::string>& assignments = {}) {
  auto table = toml::parse(text);
  for (const auto& assignment : assignments) SetValue(table, assignment);
  return ReadHistogramSettings(table, "x.toml");
}

std::unique_ptr<Job> JobOfText(const std::string& text, const std::vector<std::string>& assignments = {}) {
  const TemporaryFolder folder;
  return ReadJob(folder.Write("x.toml", text), assignments);
}

TEST(HistogramSettings, OfDepositsAreOfAllClasses) {
  const auto job = ReadCounted(kCountedStore);
  EXPECT_TRUE(job.store.on);
  EXPECT_EQ(job.records(), 60);
  EXPECT_EQ(job.features.row_norm, 1.5);
  EXPECT_THAT(job.column.values, ElementsAre("x", "y", "z"));
  EXPECT_THAT(ReadCounted(kCountedArrays).column.values, ElementsAre("0", "1", "2", "3"));
}

TEST(HistogramSettings, AreWrittenAndReadBackWhateverTheSource) {
  const TemporaryFolder folder;
  for (const auto* text : {kCountedFiles, kCountedStore, kCountedArrays}) {
    const auto job = JobOfText(text);
    EXPECT_EQ(HashOf(*ParseJob(job->Json(), "x")), HashOf(*job));
    EXPECT_EQ(HashOf(*ReadJob(folder.Write("y.toml", TomlOf(*job)))), HashOf(*job));
  }
  const auto json = JobOfText(kCountedStore)->Json();
  EXPECT_THAT(json, HasSubstr(R"("histogram":{"confidence":0.95,"mode":"central","noise":"laplace"})"));
}

/// As version 0.1 wrote them.
TEST(HistogramSettings, OfFilesHaveTheKeysThatTheyHadBefore) {
  const auto json = JobOfText(kCountedFiles)->Json();
  EXPECT_EQ(
      json,
      R"({"data":{"format":"csv","header":true,"name":"wards","rows":[20,20,20]},"histogram":{"column":"y",)"
      R"("confidence":0.95,"mode":"central","noise":"laplace","values":["a","b"]},"name":"wards","privacy":)"
      R"({"accountant":"pld","delta":1e-09,"epsilon":1.0},"release":{"to":[0,1,2]},"type":"histogram",)"
      R"("version":1})");
  EXPECT_EQ(JobOfText(kCountedFiles, {"data.source=files"})->Json(), json);
}

class HistogramRefusalTest : public testing::TestWithParam<std::pair<std::string, EditCase>> {};

TEST_P(HistogramRefusalTest, SaysWhy) {
  const auto& [text, edit] = GetParam();
  EXPECT_THAT(ErrorText<ConfigError>([&] { (void)ReadCounted(Replaced(text, edit.from, edit.to)); }),
              HasSubstr(edit.error));
}

std::vector<std::pair<std::string, EditCase>> Refusals() {
  std::vector<std::pair<std::string, EditCase>> all;
  for (const EditCase& one : std::vector<EditCase>{
           {"column", "[histogram]", "[histogram]\ncolumn = \"y\"",
            "histogram.column: found it with data.source \"store\", whose jobs count the classes"},
           {"values", "[histogram]", "[histogram]\nvalues = [\"x\"]",
            "histogram.values: found it with data.source \"store\", whose jobs count the classes"},
           {"local", "\"central\"", "\"local\"\nrandomiser = \"k-ary\"",
            "histogram.mode: found \"local\", expected \"central\" with data.source \"store\": owners"},
           {"target", "classes = 3\nlabel = { column = \"y\", values = [\"x\", \"y\", \"z\"] }",
            "target = { column = \"y\", low = 0, high = 1 }",
            "data.target: found it, expected data.classes, which a histogram counts"},
           {"key", "name = \"age\"", "name = \"age\"\n[[data.column]]\nname = \"id\"\nkind = \"key\"",
            "data.column: found one of kind \"key\""},
           {"weight", "name = \"age\"", "name = \"age\"\n[[data.column]]\nname = \"w\"\nkind = \"weight\"",
            "only jobs of type \"dpsgd\" have weights"},
           {"vertical",
            "classes = 3\nlabel = { column = \"y\", values = [\"x\", \"y\", \"z\"] }\n[[data.column]]\nname "
            "= \"age\"",
            "classes = 3\npartition = \"vertical\"\nlabel = { column = \"y\", values = [\"x\", \"y\", "
            "\"z\"], party = 0 }\n"
            "[[data.column]]\nname = \"age\"\nparty = 0",
            "data.partition: found \"vertical\", expected \"horizontal\" with data.source \"store\""},
           {"rows", "capacity = 60", "capacity = 60\nrows = [1, 1, 1]",
            "data.rows: found it with data.source \"store\", which has data.capacity"},
           {"classes", "classes = 3", "classes = 4", "data.label.values"},
           {"columns", "classes = 3", "classes = 3\nheader = false\ncolumns = [\"age\", \"y\"]",
            "data.columns: only data.source \"files\" has it"},
       })
    all.emplace_back(kCountedStore, one);
  for (const EditCase& one : std::vector<EditCase>{
           {"confidence", "mode = ", "confidence = 0.99905\nmode = ",
            "histogram.confidence: found 0.99905, expected a number above 0, at most 0.999"},
           {"fraction_bits", "[data]", "fraction_bits = 16\n[data]",
            "fraction_bits: only data.source \"store\" has it"},
           {"features", "[histogram]", "[features]\nrow_norm = 2\n[histogram]",
            "features: only data.source \"store\" has it"},
           {"labels", "[histogram]", "label = { column = \"y\" }\n[histogram]",
            "data.label: only data.source \"store\" has it"},
           {"format", "\"csv\"", "\"npy\"",
            "data.format: found \"npy\", expected \"csv\" with data.source \"files\""},
           {"source", "rows", "source = \"shop\"\nrows", "data.source: found \"shop\""},
           {"capacity", "rows", "capacity = 3\nrows", "data.capacity: only data.source \"store\" has it"},
       })
    all.emplace_back(kCountedFiles, one);
  return all;
}

INSTANTIATE_TEST_SUITE_P(All, HistogramRefusalTest, testing::ValuesIn(Refusals()), [](const auto& one) {
  return one.param.second.name + (one.param.first == kCountedStore ? "_of_deposits" : "_of_files");
});

TEST(HistogramJob, OfDepositsIsOnRecordsThatNoPartyBrings) {
  const auto job = JobOfText(kCountedStore);
  EXPECT_TRUE(IsOnDeposits(*job));
  EXPECT_EQ(job->DeclaredRows(), 60);
  EXPECT_EQ(job->Title(), "3 classes of up to 60 records, counted on shares, discrete Laplace noise");
  EXPECT_TRUE(PromiseOf(*job).deposited);
  EXPECT_EQ(PromiseOf(*job).neighbours, dp::Neighbours::kAdded);
  EXPECT_THAT(PromiseOf(*job).warnings, IsEmpty());
  const auto files = JobOfText(kCountedFiles);
  EXPECT_FALSE(IsOnDeposits(*files));
  EXPECT_EQ(files->Records(), nullptr);
  EXPECT_EQ(files->DeclaredRows(), 60);
  // The same is charged wherever the records are.
  EXPECT_EQ(job->Epsilons().insider, files->Epsilons().insider);
  EXPECT_EQ(job->Epsilons().outsider, files->Epsilons().outsider);
  ExpectNoRecordsOfItsOwn(*job);
}

/// What parties bring themselves is shared first.
TEST(HistogramJob, OfDepositsIsPlannedFromTheJobAlone) {
  const auto plan = JobOfText(kCountedStore)->Plan({});
  const auto of_files = JobOfText(kCountedFiles, {"histogram.values=[\"x\", \"y\", \"z\"]"})->Plan({});
  const auto input = protocols::InputSumCost(3);
  ASSERT_EQ(plan.forms.size(), 1U);
  const auto& cost = plan.forms[0].cost;
  const auto& cost_of_files = of_files.forms.at(0).cost;
  EXPECT_EQ(cost.rounds, cost_of_files.rounds - input.rounds());
  for (std::size_t party = 0; party < 3; ++party)
    EXPECT_EQ(cost.bytes_sent.at(party), cost_of_files.bytes_sent.at(party) - input.bytes_sent().at(party));
  EXPECT_EQ(plan.apart, "the sums of deposited rows");
  // Shares of 60 rows of a feature, a mask bit and three words of a label at each party, and of three counts.
  EXPECT_EQ(plan.memory->at(2), 60 * 16 * 5 + 3 * 16);
}

}  // namespace
}  // namespace trefoil::jobs
