// The data sets that users have, as they are distributed; skipped where they are not at hand.
#include <gtest/gtest.h>

#include <cstdlib>

#include "data/dataset/folders.h"
#include "data/dealing/split.h"
#include "tests/data/temporary_folder.h"

namespace trefoil::data {
namespace {

std::filesystem::path DataFolder(const std::string& name) {
  const char* shared = std::getenv("TREFOIL_SHARED");
  const std::filesystem::path root = shared != nullptr ? shared : TREFOIL_SOURCE_DIR "/../shared";
  return root / "data" / name;
}

std::vector<int> Histogram(const std::vector<int>& labels, int classes) {
  std::vector<int> counts(static_cast<std::size_t>(classes), 0);
  for (const int label : labels) ++counts.at(static_cast<std::size_t>(label));
  return counts;
}

TEST(Mnist, LoadsAndSplitsWhole) {
  const auto source = DataFolder("mnist");
  if (!std::filesystem::exists(source)) GTEST_SKIP() << "no MNIST in " << source;
  DataSpec spec;
  spec.rows = {20000, 20000, 20000};
  spec.features = 784;
  spec.classes = 10;
  spec.scale = 255;

  const DataFiles files = FindTrainingFiles(spec, source);
  const Table train = Load(spec, files);
  const Table test = Load(spec, *FindTestFiles(spec, source));

  EXPECT_EQ(train.x.rows(), 60000);
  EXPECT_EQ(test.x.rows(), 10000);
  // Counts as published with the data set.
  EXPECT_EQ(Histogram(train.y, 10),
            (std::vector<int>{5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949}));
  EXPECT_EQ(Histogram(test.y, 10), (std::vector<int>{980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009}));
  EXPECT_EQ(train.x.maxCoeff(), 1.0F);
  EXPECT_EQ(train.x.minCoeff(), 0.0F);

  const TemporaryFolder folder;
  const SplitReport report = SplitSource(spec, files, {}, {folder / "0", folder / "1", folder / "2"});
  EXPECT_EQ(report.left_out, 0);
  const Table second = Load(spec, PartyFiles(Format::kIdx, folder / "1"), 20000);
  ASSERT_EQ(second.x.rows(), 20000);
  EXPECT_EQ(second.x.row(19999), train.x.row(59998));
  EXPECT_EQ(second.y.back(), train.y[59998]);
}

/// Adult's numbers as they are; every other column is left out.
DataSpec AdultNumbers() {
  DataSpec spec;
  spec.name = "adult";
  spec.format = Format::kCsv;
  spec.rows = {11000, 11000, 11000};
  spec.features = 6;
  spec.header = false;
  for (const char* name :
       {"age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation",
        "relationship", "race", "sex", "capital-gain", "capital-loss", "hours-per-week"}) {
    spec.columns.push_back({name, ColumnKind::kIgnore, 0, 1, {}});
  }
  for (const std::size_t number : {0U, 2U, 4U, 10U, 11U, 12U})
    spec.columns[number].kind = ColumnKind::kNumber;
  spec.columns.push_back({"native-country", ColumnKind::kIgnore, 0, 1, {}});
  spec.label = {"income", {"<=50K", ">50K"}, {{"<=50K.", "<=50K"}, {">50K.", ">50K"}}};
  return spec;
}

TEST(Adult, LoadsAndSplitsWhole) {
  const auto source = DataFolder("adult");
  if (!std::filesystem::exists(source)) GTEST_SKIP() << "no Adult in " << source;
  const DataSpec spec = AdultNumbers();

  const DataFiles files = FindTrainingFiles(spec, source);
  const Table train = Load(spec, files);
  const Table test = Load(spec, *FindTestFiles(spec, source));

  EXPECT_EQ(train.x.rows(), 32561);
  EXPECT_EQ(test.x.rows(), 16281);
  EXPECT_EQ(Histogram(train.y, 2), (std::vector<int>{24720, 7841}));
  EXPECT_EQ(Histogram(test.y, 2), (std::vector<int>{12435, 3846}));
  EXPECT_EQ(train.x(0, 0), 39.0F);
  EXPECT_EQ(train.x(0, 3), 2174.0F);
  EXPECT_EQ(train.x.col(3).maxCoeff(), 99999.0F);

  const TemporaryFolder folder;
  const SplitReport report = SplitSource(spec, files, {SplitKind::kFractions, {0.5, 0.3, 0.2}},
                                         {folder / "0", folder / "1", folder / "2"});
  EXPECT_EQ(report.rows, (std::array<std::int64_t, 3>{11000, 9768, 6512}));
  EXPECT_EQ(report.left_out, 32561 - 11000 - 9768 - 6512);
  const Table third = Load(spec, PartyFiles(Format::kCsv, folder / "2"), 11000);
  EXPECT_EQ(third.x.bottomRows(1), train.x.bottomRows(1));
}

}  // namespace
}  // namespace trefoil::data
