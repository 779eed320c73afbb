#include "data/dealing/split.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "data/formats/idx.h"
#include "data/formats/image_decoder.h"
#include "data/formats/numpy/npz.h"
#include "tests/data/cifar_rows.h"
#include "tests/data/image_bytes.h"

namespace trefoil::data {
namespace {

using testing::HasSubstr;
using Parties = std::vector<int>;
using Capacities = std::array<std::int64_t, 3>;

const std::vector<int> kLabels{2, 1, 0, 2, 1, 0, 2};
constexpr Capacities kAmple{100, 100, 100};

TEST(AssignRows, DealsEvenlyInTurn) {
  EXPECT_EQ(AssignRows({}, kLabels, kAmple), (Parties{0, 1, 2, 0, 1, 2, 0}));
}

TEST(AssignRows, SortsStablyByLabel) {
  // Sorted: rows 2 5 | 1 4 | 0 3 6, of 7 rows 2, 2 and 3.
  EXPECT_EQ(AssignRows({SplitKind::kSorted, {}}, kLabels, kAmple), (Parties{2, 1, 0, 2, 1, 0, 2}));
  Parties thirds(99, 0);
  std::fill(thirds.begin() + 33, thirds.begin() + 66, 1);
  std::fill(thirds.begin() + 66, thirds.end(), 2);
  EXPECT_EQ(AssignRows({SplitKind::kSorted, {}}, std::vector<int>(99, 0), kAmple), thirds);
}

TEST(AssignRows, CutsContiguousFractions) {
  EXPECT_EQ(AssignRows({SplitKind::kFractions, {0.5, 0.25, 0.25}}, {0, 0, 0, 0, 0, 0, 0, 0}, kAmple),
            (Parties{0, 0, 0, 0, 1, 1, 2, 2}));
  EXPECT_EQ(AssignRows({SplitKind::kFractions, {0.25, 0, 0.25}}, {0, 0, 0, 0}, kAmple),
            (Parties{0, 2, -1, -1}));
  EXPECT_EQ(AssignRows({SplitKind::kFractions, {0.7, 0.2, 0.1}}, std::vector<int>(10, 0), kAmple),
            (Parties{0, 0, 0, 0, 0, 0, 0, 1, 1, 2}));
}

TEST(AssignRows, RespectsCapacities) {
  EXPECT_EQ(AssignRows({}, kLabels, {1, 2, 1}), (Parties{0, 1, 2, -1, -1, -1, -1}));
  EXPECT_EQ(AssignRows({}, kLabels, {0, 5, 5}), (Parties{-1, 1, 2, -1, 1, 2, -1}));
  // The first six rows are sorted, so that every class is still there.
  EXPECT_EQ(AssignRows({SplitKind::kSorted, {}}, kLabels, {2, 2, 2}), (Parties{2, 1, 0, 2, 1, 0, -1}));
  EXPECT_EQ(AssignRows({SplitKind::kFractions, {0.5, 0.5, 0}}, kLabels, {4, 2, 0}),
            (Parties{0, 0, 0, 1, 1, -1, -1}));
}

TEST(AssignRows, RefusesImpossibleFractions) {
  for (const auto& fractions :
       {std::array<double, 3>{0.5, 0.5, 0.1}, {-0.1, 0.5, 0.5}, {0.5, std::nan(""), 0.1}}) {
    EXPECT_THAT(ErrorText<ConfigError>([&] {
                  (void)AssignRows({SplitKind::kFractions, fractions}, kLabels, kAmple);
                }),
                HasSubstr("local.split: found"));
  }
}

/// Ten records, feature i + 1 in row i, in a source folder of each format.
class SplitSourceTest : public testing::TestWithParam<Format> {
 protected:
  SplitSourceTest() {
    spec_.name = "tiny";
    spec_.format = GetParam();
    spec_.features = 2;
    spec_.classes = 10;
    spec_.rows = {3, 3, 2};
    std::filesystem::create_directories(folder_ / "source");
    if (GetParam() == Format::kIdx) {
      MakeIdx();
    } else if (GetParam() == Format::kCsv) {
      MakeCsv();
    } else if (GetParam() == Format::kCifar) {
      MakeCifar();
    } else if (GetParam() == Format::kImages) {
      MakeImages();
    } else {
      MakeNumPy();
    }
  }

  void SetUp() override {
    if (GetParam() == Format::kImages && !ImagesAreAvailable())
      GTEST_SKIP() << "built without images (TREFOIL_IMAGES)";
  }

  void MakeImages() {
    spec_.image = {.height = 1, .width = 2};
    for (int i = 0; i < 10; ++i) {
      spec_.label.values.push_back(std::to_string(i));
      std::filesystem::create_directories(folder_ / ("source/train/" + std::to_string(i)));
      folder_.Put("source/train/" + std::to_string(i) + "/a.png",
                  Png(spec_.image, {static_cast<std::uint8_t>(i + 1), 200}));
    }
    for (const int j : {0, 1, 2}) {  // of an earlier dealing
      std::filesystem::create_directories(folder_ / ("party-" + std::to_string(j) + "/data/train/0"));
      folder_.Put("party-" + std::to_string(j) + "/data/train/0/0.png", "");
    }
  }

  void MakeIdx() const {
    IdxArray x{{10, 1, 2}, {}};
    IdxArray y{{10}, {}};
    for (std::uint8_t i = 0; i < 10; ++i) {
      x.values.insert(x.values.end(), {static_cast<std::uint8_t>(i + 1), 200});
      y.values.push_back(i);
    }
    WriteIdx(folder_ / "source/train-images-idx3-ubyte", x);
    WriteIdx(folder_ / "source/train-labels-idx1-ubyte", y);
  }

  void MakeCsv() {
    std::string content = "a, b, class\r\n";
    for (int i = 0; i < 10; ++i) {
      content += std::to_string(i + 1) + ", 200, " + std::to_string(i) + "\r\n";
      spec_.label.values.push_back(std::to_string(i));
    }
    spec_.columns = {{"a", ColumnKind::kNumber, 0, 1, {}}, {"b", ColumnKind::kNumber, 0, 1, {}}};
    spec_.label.column = "class";
    folder_.Put("source/tiny-train.csv", content);
  }

  void MakeCifar() {
    spec_.features = 3072;
    for (int k = 0; k < 5; ++k) {
      std::string content;
      for (const int i : {2 * k, 2 * k + 1}) {
        auto row = CifarRow(i, 0);
        row[1] = static_cast<char>(i + 1);       // the first pixel's red
        row[1 + 1024] = static_cast<char>(200);  // and green
        content += row;
      }
      folder_.Put(std::string("source/data_batch_") + std::to_string(k + 1) + ".bin", content);
    }
  }

  void MakeNumPy() const {
    std::vector<double> x;
    std::vector<std::int64_t> y;
    for (int i = 0; i < 10; ++i) {
      x.insert(x.end(), {i + 1.0, 200.0});
      y.push_back(i);
    }
    WriteNpy(folder_ / "source/train-x.npy", NpyFromDoubles({10, 2}, x));
    WriteNpy(folder_ / "source/train-y.npy", NpyFromIntegers({10}, y));
    WriteNpz(folder_ / "source/train.npz",
             {{"x", NpyFromDoubles({10, 2}, x)}, {"y", NpyFromIntegers({10}, y)}});
  }

  TemporaryFolder folder_;
  DataSpec spec_;
};

TEST_P(SplitSourceTest, GivesEachPartyItsRowsInTheSameFormat) {
  const std::array<std::filesystem::path, 3> parties{folder_ / "party-0", folder_ / "party-1",
                                                     folder_ / "party-2"};

  const SplitReport report = SplitSource(spec_, FindTrainingFiles(spec_, folder_ / "source"), {}, parties);

  EXPECT_EQ(report.rows, (Capacities{3, 3, 2}));
  EXPECT_EQ(report.left_out, 2);
  for (std::size_t j = 0; j < 3; ++j) {
    const Table table = Load(spec_, PartyFiles(spec_.format, parties[j]), spec_.rows[j]);
    ASSERT_EQ(table.x.rows(), spec_.rows[j]);
    for (Eigen::Index k = 0; k < table.x.rows(); ++k) {
      const int row = static_cast<int>(3 * k) + static_cast<int>(j);
      EXPECT_EQ(table.x(k, 0), static_cast<float>(row + 1));
      EXPECT_EQ(table.x(k, 1), 200.0F);
      EXPECT_EQ(table.y[static_cast<std::size_t>(k)], row);
    }
  }
}

TEST_P(SplitSourceTest, NamesTheSourceInErrors) {
  spec_.classes = 9;
  if (!spec_.label.values.empty()) spec_.label.values.pop_back();
  const auto source = FindTrainingFiles(spec_, folder_ / "source");
  const auto text = ErrorText<DataError>([&] {
    SplitSource(spec_, source, {}, {"unused", "unused", "unused"});
  });
  EXPECT_THAT(text, HasSubstr((folder_ / "source").string()));
  EXPECT_THAT(text, HasSubstr(GetParam() == Format::kCsv      ? "row 11"
                              : GetParam() == Format::kImages ? "source/train/9: found a folder"
                                                              : "row 10"));
}

TEST(SplitSource, GivesEveryPartySomeOfEachClassOfImages) {
  if (!ImagesAreAvailable()) GTEST_SKIP() << "built without images (TREFOIL_IMAGES)";
  const TemporaryFolder folder;
  DataSpec spec{.name = "tiny", .format = Format::kImages, .columns = {}, .label = {}};
  spec.features = 2;
  spec.classes = 3;
  spec.rows = {6, 6, 6};
  spec.image = {.height = 1, .width = 2};
  spec.label.values = {"ant", "bee", "cat"};
  for (const auto& name : spec.label.values) {
    std::filesystem::create_directories(folder / ("train/" + name));
    for (char k = '0'; k <= '9'; ++k) folder.Put("train/" + name + "/" + k, Png(spec.image, {1, 2}));
  }
  const std::array<std::filesystem::path, 3> parties{folder / "0", folder / "1", folder / "2"};
  for (const auto& split : {Split{}, Split{SplitKind::kFractions, {0.5, 0.25, 0.25}}}) {
    const auto report = SplitSource(spec, OneFile(folder / "train"), split, parties);
    EXPECT_GE(report.left_out, 12);
    for (const auto& party : parties) {
      std::array<int, 3> counts{};
      for (const int label : Load(spec, PartyFiles(spec.format, party)).y)
        ++counts.at(static_cast<std::size_t>(label));
      for (const int count : counts) EXPECT_NEAR(count, split.kind == SplitKind::kEven ? 2 : 1.5, 0.5);
    }
  }
}

TEST(SplitRows, EndsWhereImagesCameSinceTheyWereRead) {
  const TemporaryFolder folder;
  DataSpec spec{.name = "tiny", .format = Format::kImages, .columns = {}, .label = {}};
  spec.label.values = {"ant", "bee"};
  std::filesystem::create_directories(folder / "train/ant");
  folder.Put("train/ant/1", "");
  folder.Put("train/ant/2", "");
  const std::array<std::filesystem::path, 3> parties{folder / "0", folder / "1", folder / "2"};
  EXPECT_THAT(ErrorText<DataError>([&] { SplitRows(spec, OneFile(folder / "train"), {0}, parties); }),
              HasSubstr("train: found 2 images, expected 1 as when they were read"));
}

std::string FormatName(const testing::TestParamInfo<Format>& info) {
  return std::array{"idx", "csv", "npy", "npz", "cifar", "images"}.at(static_cast<std::size_t>(info.param));
}

INSTANTIATE_TEST_SUITE_P(Formats, SplitSourceTest,
                         testing::Values(Format::kIdx, Format::kCsv, Format::kNpy, Format::kNpz,
                                         Format::kCifar, Format::kImages),
                         FormatName);

}  // namespace
}  // namespace trefoil::data
