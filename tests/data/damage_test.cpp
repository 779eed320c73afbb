// Files that were cut or have wrong bytes: each is refused with a DataError or is a valid table, whatever the
// damage.
#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "data/dataset/load.h"
#include "data/formats/csv.h"
#include "data/formats/idx.h"
#include "data/formats/numpy/npz.h"
#include "tests/data/temporary_folder.h"

namespace trefoil::data {
namespace {

constexpr std::int64_t kCapacity = 50;

struct Target {
  std::string name;
  std::function<std::string(const TemporaryFolder&, DataSpec&, DataFiles&)>
      make;  // returns the file to be damaged
};

DataSpec BaseSpec(Format format) {
  DataSpec spec;
  spec.format = format;
  spec.features = 4;
  return spec;
}

std::string MakeIdx(const TemporaryFolder& folder, DataSpec& spec, DataFiles& files,
                    const std::string& extension) {
  spec = BaseSpec(Format::kIdx);
  files = {folder / ("x" + extension), folder / ("y" + extension), {}};
  WriteIdx(files.x, {{3, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}});
  WriteIdx(files.y, {{3}, {0, 1, 1}});
  return "x" + extension;
}

std::string MakeColours(const TemporaryFolder& folder, DataSpec& spec, DataFiles& files) {
  (void)MakeIdx(folder, spec, files, "");
  spec.image = {1, 2, 2};
  WriteIdx(files.x, {{3, 1, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}});
  return "x";
}

std::string MakeNumPy(const TemporaryFolder& folder, DataSpec& spec, DataFiles& files, Format format) {
  spec = BaseSpec(format);
  const NpyArray x = NpyFromDoubles({3, 4}, std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  const NpyArray y = NpyFromIntegers({3}, std::vector<std::int64_t>{0, 1, 1});
  files = {folder / "x.npy", folder / "y.npy", {}};
  WriteNpy(files.x, x);
  WriteNpy(files.y, y);
  if (format == Format::kNpy) return "x.npy";
  files = {{}, {}, folder / "a.npz"};
  WriteNpz(files.file, {{"x", x}, {"y", y}});
  return "a.npz";
}

std::string MakeCsv(const TemporaryFolder& folder, DataSpec& spec, DataFiles& files) {
  spec = BaseSpec(Format::kCsv);
  spec.columns = {{"a", ColumnKind::kNumber, 0, 1, {}}, {"b", ColumnKind::kCategory, 0, 1, {"u", "v", "w"}}};
  spec.label = {"c", {"n", "y"}, {}};
  files = {{}, {}, folder.Put("a.csv", "a,b,c\r\n1.5, u,n\r\n\"2\",?,\"y\"\r\n-3e2,w,n\r\n\r\n")};
  return "a.csv";
}

class DamageTest : public testing::TestWithParam<Target> {
 protected:
  DamageTest() {
    name_ = GetParam().make(folder_, spec_, files_);
    original_ = RawBytes(folder_ / name_);
  }

  /// True if the file with this content was refused. Anything but a DataError fails the test, a crash ends
  /// it.
  bool Refused(const std::string& content) {
    folder_.Put(name_, content);
    try {
      const Table table = Load(spec_, files_, kCapacity);
      EXPECT_EQ(table.x.rows(), static_cast<Eigen::Index>(table.y.size()));
      EXPECT_EQ(table.x.cols(), spec_.features);
      EXPECT_TRUE(table.x.allFinite());
      for (const int label : table.y) EXPECT_TRUE(label >= 0 && label < spec_.classes);
      return false;
    } catch (const DataError&) {
      return true;
    }
  }

  TemporaryFolder folder_;
  DataSpec spec_;
  DataFiles files_;
  std::string name_;
  std::string original_;
};

TEST_P(DamageTest, TruncationIsRefusedOrValid) {
  int refused = 0;
  for (std::size_t length = 0; length < original_.size(); ++length)
    refused += Refused(original_.substr(0, length));
  EXPECT_GT(refused, static_cast<int>(original_.size() / 2));
  EXPECT_FALSE(Refused(original_));
}

TEST_P(DamageTest, RandomBytesAreRefusedOrValid) {
  std::mt19937 random(1);
  int refused = 0;
  for (int trial = 0; trial < 4000; ++trial) {
    std::string content = original_;
    for (auto flips = random() % 4 + 1; flips > 0; --flips) {
      content[random() % content.size()] = static_cast<char>(random() % 256);
    }
    refused += Refused(content);
  }
  EXPECT_GT(refused, 100);
}

INSTANTIATE_TEST_SUITE_P(
    Formats, DamageTest,
    testing::Values(
        Target{"idx", [](const auto& f, auto& s, auto& d) { return MakeIdx(f, s, d, ""); }},
        Target{"idx_gz", [](const auto& f, auto& s, auto& d) { return MakeIdx(f, s, d, ".gz"); }},
        Target{"idx_colours", [](const auto& f, auto& s, auto& d) { return MakeColours(f, s, d); }},
        Target{"npy", [](const auto& f, auto& s, auto& d) { return MakeNumPy(f, s, d, Format::kNpy); }},
        Target{"npz", [](const auto& f, auto& s, auto& d) { return MakeNumPy(f, s, d, Format::kNpz); }},
        Target{"csv", [](const auto& f, auto& s, auto& d) { return MakeCsv(f, s, d); }}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace trefoil::data
