#include "jobs/statistics/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/jobs/statistics/statistics_job.h"
#include "tests/support/error_text.h"

namespace trefoil::jobs {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(StatisticsSettings, AskForMomentsAndQuantilesOfAllNumbersUnlessTheyAreTold) {
  const auto job = StatisticsWith({"statistics.correlations=[]", "statistics.table=[]"});
  EXPECT_THAT(job.moments, ElementsAre("a", "b"));
  EXPECT_THAT(job.quantiles, ElementsAre("a", "b"));
  EXPECT_THAT(job.probabilities, ElementsAre(0.05, 0.25, 0.5, 0.75, 0.95));
  EXPECT_TRUE(job.correlations.empty());
  EXPECT_FALSE(MayMiss(job, job.columns[0].column));
  EXPECT_TRUE(MayMiss(job, job.columns[1].column));
}

struct Refusal {
  const char* assignment;
  const char* text;
};

class StatisticsRefusalTest : public testing::TestWithParam<Refusal> {};

TEST_P(StatisticsRefusalTest, NamesFoundAndExpected) {
  const auto& [assignment, text] = GetParam();
  EXPECT_THAT(testing_support::ErrorText<ConfigError>([&] { (void)StatisticsWith({assignment}); }),
              HasSubstr(text));
}

INSTANTIATE_TEST_SUITE_P(
    All, StatisticsRefusalTest,
    testing::Values(
        Refusal{"data.column=[{ name = \"a\", low = 1, high = 1 }]",
                "data.column.high: found 1, expected a number above low"},
        Refusal{"data.column=[{ name = \"a\", low = 1 }]", "missing data.column.high"},
        Refusal{"data.column=[{ name = \"a\", low = 0, high = 1, edges = [1.0] }]",
                "numbers above low and below high"},
        Refusal{"data.column=[{ name = \"a\", low = 0, high = 3, edges = [2, 1] }]",
                "finite numbers in ascending order"},
        Refusal{"data.column=[{ name = \"a\", kind = \"category\", values = [] }]",
                "1 to 1000 different texts"},
        Refusal{"data.column=[{ name = \"a\", kind = \"category\", values = [\"x\", \"x\"] }]",
                "different texts"},
        Refusal{"data.column=[{ name = \"a\", kind = \"category\", values = [\"x\"], low = 0 }]",
                "only kind \"number\" has it"},
        Refusal{"data.column=[{ name = \"a\", kind = \"date\" }]",
                "found \"date\", expected one of \"number\""},
        Refusal{"data.column=[{ name = \"a\", low = 0, high = 1 }, { name = \"a\", low = 0, high = 1 }]",
                "the column \"a\" occurs twice"},
        Refusal{"data.column=[]", "one [[data.column]] for each column"},
        Refusal{"data.rows=[0, 0, 0]", "at least one row"},
        Refusal{"statistics.moments=[\"c\"]",
                "statistics.moments: found \"c\", expected names of columns of kind \"number\""},
        Refusal{"statistics.quantiles=[\"a\", \"a\"]", "found \"a\" twice"},
        Refusal{"statistics.correlations=[\"a\"]", "two columns or more, or none"},
        Refusal{"statistics.probabilities=[0.5, 1.0]",
                "finite numbers above 0 and below 1 in ascending order"},
        Refusal{"statistics.bins=1", "a whole number from 2 to 4096"},
        Refusal{"statistics.weights.count=0.0", "statistics.weights.count"},
        Refusal{"statistics.weights.counts=1.0", "did you mean statistics.weights.count"},
        Refusal{"statistics.table=[{ rows = \"b\" }]", "or of numbers with edges"},
        Refusal{"statistics.table=[{ rows = \"c\", columns = \"d\" }]",
                "statistics.table.columns: found \"d\""},
        Refusal{"statistics.table=[{ rows = \"c\", columns = \"c\" }]", "another column than rows"},
        Refusal{"privacy.epsilon=1.0", "expected one of privacy.epsilon and privacy.sigma"}));

TEST(StatisticsSettings, WantSomethingToRelease) {
  EXPECT_THAT(testing_support::ErrorText<ConfigError>([] {
                (void)StatisticsWith({"statistics.correlations=[]", "statistics.table=[]",
                                      "statistics.moments=[]", "statistics.quantiles=[]"});
              }),
              HasSubstr("or something else to release"));
}

}  // namespace
}  // namespace trefoil::jobs
