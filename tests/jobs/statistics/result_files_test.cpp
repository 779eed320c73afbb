#include "jobs/statistics/result_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/apps/temporary_folder.h"
#include "tests/jobs/statistics/statistics_job.h"
#include "tests/support/error_text.h"

namespace trefoil::jobs {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class StatisticsFilesTest : public testing::Test {
 protected:
  StatisticsFilesTest() {
    estimates_.moments = {{.count = 5, .missing = 0, .mean = {1.5, 0.25}, .deviation = {2, 0.5}},
                          {.count = 4, .missing = 1, .mean = {3, 0.1}, .deviation = {1, 0.2}}};
    estimates_.bins = {{-1.5, 2}, {3, 4}};
    estimates_.quantiles = {{{.value = 0.5, .rank_noise = 0.01}}, {{.value = 2, .rank_noise = 0.02}}};
    estimates_.correlations = Eigen::MatrixXd::Identity(2, 2);
    estimates_.correlations_noise = Eigen::MatrixXd{{0, 0.5}, {0.5, 0}};
    estimates_.tables = {{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, {13, 14, 15, 16}};
    for (const auto& file : FilesOf(job_, layout_, estimates_)) {
      names_.push_back(file.name);
      folder_.Write(file.name, file.text);
      EXPECT_FALSE(file.secret);
    }
  }

  [[nodiscard]] std::string TextOf(const std::string& name) const {
    for (const auto& file : FilesOf(job_, layout_, estimates_)) {
      if (file.name == name) return file.text;
    }
    return "";
  }

  StatisticsSettings job_ = StatisticsWith({"statistics.bins=2", "statistics.probabilities=[0.5]"});
  StatisticsLayout layout_ = LayoutOf(job_);
  StatisticsEstimates estimates_;
  TemporaryFolder folder_;
  std::vector<std::string> names_;
};

TEST_F(StatisticsFilesTest, AreTablesOfWhatIsAsked) {
  EXPECT_THAT(names_, ElementsAre("moments.csv", "quantiles.csv", "bins.csv", "correlations.csv",
                                  "correlations_noise.csv", "tables.csv"));
  EXPECT_EQ(TextOf("moments.csv"),
            "column,count,missing,mean,mean_noise,deviation,deviation_noise\n"
            "a,5,0,1.5,0.25,2,0.5\nb,4,1,3,0.1,1,0.2\n");
  EXPECT_EQ(TextOf("quantiles.csv"),
            "column,probability,quantile,rank_noise\na,0.5,0.5,0.01\nb,0.5,2,0.02\n");
  EXPECT_EQ(TextOf("bins.csv"), "column,low,high,count\na,-10,0,-1.5\na,0,10,2\nb,0,2,3\nb,2,4,4\n");
  EXPECT_EQ(TextOf("correlations.csv"), "column,a,b\na,1,0\nb,0,1\n");
  EXPECT_THAT(TextOf("tables.csv"), HasSubstr("rows,columns,row,column,count\na,c,below -2,x,1\n"));
  EXPECT_THAT(TextOf("tables.csv"), HasSubstr("\nc,,(missing),,16\n"));
}

TEST_F(StatisticsFilesTest, AreShownAsTablesAndPlots) {
  const auto shown = ShownStatistics(job_, layout_, folder_.path());
  std::vector<std::string> titles;
  for (const auto& table : shown.tables) {
    titles.push_back(table.title);
    for (const auto& row : table.rows) EXPECT_EQ(row.size(), table.head.size());
  }
  ASSERT_THAT(titles, ElementsAre("Means and deviations", "Quantiles", "Correlations",
                                  "Noise of the correlations", "Records by a and c", "Records by c"));
  EXPECT_THAT(shown.tables[3].rows[0], ElementsAre("a", "0", "0.5"));
  EXPECT_THAT(shown.tables[4].head, ElementsAre("a", "x", "y", "z", "(missing)"));
  EXPECT_THAT(shown.tables[4].rows[1], ElementsAre("-2 to below 3.5", "5", "6", "7", "8"));
  EXPECT_THAT(shown.tables[5].rows[3], ElementsAre("(missing)", "16"));
  ASSERT_EQ(shown.plots.size(), 2U);
  EXPECT_EQ(shown.plots[0].range, (std::pair{-10.0, 10.0}));
  EXPECT_THAT(shown.plots[0].points, ElementsAre(std::pair{-5.0, 0.0}, std::pair{5.0, 2.0}));
}

/// 1001 bins, of which three each are joined, and the last two.
TEST_F(StatisticsFilesTest, ArePlottedInFewerBinsWithoutLosingRecords) {
  const auto job = StatisticsWith({"statistics.bins=1001", "statistics.quantiles=[\"b\"]"});
  const auto layout = LayoutOf(job);
  auto estimates = estimates_;
  estimates.bins = {std::vector<double>(1001)};
  estimates.quantiles = {std::vector<QuantileEstimate>(job.probabilities.size())};
  estimates.bins[0][1] = 30;
  estimates.bins[0][2] = -6;
  estimates.bins[0][1000] = 10;
  const TemporaryFolder folder;
  for (const auto& file : FilesOf(job, layout, estimates)) folder.Write(file.name, file.text);
  const auto points = ShownStatistics(job, layout, folder.path()).plots.at(0).points;
  ASSERT_EQ(points.size(), 334U);
  EXPECT_NEAR(points[0].first, 4 * 1.5 / 1001, 1e-12);
  EXPECT_EQ(points[0].second, 8);
  EXPECT_EQ(points[1].second, 0);
  EXPECT_NEAR(points[333].first, 4 * 1000.0 / 1001, 1e-12);
  EXPECT_EQ(points[333].second, 5);
}

TEST_F(StatisticsFilesTest, AreNotShownWhereThereAreNone) {
  const TemporaryFolder empty;
  const auto shown = ShownStatistics(job_, layout_, empty.path());
  EXPECT_TRUE(shown.tables.empty() && shown.plots.empty());
}

TEST_F(StatisticsFilesTest, AreRefusedWhereTheyAreDamaged) {
  const auto error = [&](const char* file, const std::string& text) {
    const auto whole = TextOf(file);
    folder_.Write(file, text);
    const auto found =
        testing_support::ErrorText<DataError>([&] { (void)ShownStatistics(job_, layout_, folder_.path()); });
    folder_.Write(file, whole);
    return found;
  };
  EXPECT_THAT(error("moments.csv", "column,count\na,1\n"), HasSubstr("moments.csv: found another number"));
  EXPECT_THAT(error("quantiles.csv", TextOf("quantiles.csv") + "c,1,1,1\n"), HasSubstr("expected 2 lines"));
  EXPECT_THAT(error("tables.csv", TextOf("tables.csv") + "one field\n"), HasSubstr("tables.csv: found"));
  EXPECT_THAT(error("bins.csv", "column,low,high,count\na,1,2,many\na,1,2,3\nb,1,2,3\nb,1,2,3\n"),
              HasSubstr("bins.csv: found \"many\", expected a number"));
}

}  // namespace
}  // namespace trefoil::jobs
