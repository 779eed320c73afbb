#include "data/dataset/stored_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <numeric>

#include "data/dataset/load.h"
#include "data/formats/file.h"
#include "data/formats/idx.h"
#include "data/formats/numpy/npy.h"
#include "tests/data/temporary_folder.h"

namespace trefoil::data {
namespace {

using testing::HasSubstr;

constexpr std::size_t kRows = 5;
constexpr std::size_t kFeatures = 6;

DataSpec SpecOf(Format format) {
  DataSpec spec;
  spec.format = format;
  spec.features = kFeatures;
  spec.classes = 3;
  spec.scale = 3.0;
  return spec;
}

/// Rows of doubles, and labels, as NPY.
class StoredNpy : public testing::Test {
 protected:
  StoredNpy() {
    for (std::size_t k = 0; k < values_.size(); ++k) values_[k] = 0.37 * static_cast<double>(k) - 4;
    Write();
    WriteNpy(files_.y, NpyFromIntegers({kRows}, std::vector<std::int64_t>{0, 2, 1, 1, 0}));
  }

  void Write() const { WriteNpy(files_.x, NpyFromDoubles({kRows, kFeatures}, values_)); }

  TemporaryFolder folder_;
  DataFiles files_{.x = folder_ / "x.npy", .y = folder_ / "y.npy", .file = {}};
  std::vector<double> values_ = std::vector<double>(kRows * kFeatures);
};

/// Expects what is read row by row to be what Load() holds, in any order.
void ExpectAsLoaded(const DataSpec& spec, const DataFiles& files) {
  const Table table = Load(spec, files);
  const auto stored = LoadStored(spec, files, 0);
  ASSERT_TRUE(stored);
  EXPECT_EQ(stored->y, table.y);
  ASSERT_EQ(stored->x.rows(), static_cast<std::size_t>(table.x.rows()));
  ASSERT_EQ(stored->x.columns(), kFeatures);
  std::vector<float> row(kFeatures);
  for (const std::size_t k : {4U, 0U, 3U, 3U, 1U, 2U}) {
    stored->x.Read(k, row);
    const auto expected = table.x.row(static_cast<Eigen::Index>(k));
    EXPECT_TRUE(std::equal(row.begin(), row.end(), expected.begin())) << "row " << k;
  }
}

TEST_F(StoredNpy, ReadsWhatLoadHolds) { ExpectAsLoaded(SpecOf(Format::kNpy), files_); }

TEST_F(StoredNpy, ReadsEveryTypeOfNumbers) {
  const std::vector<std::pair<const char*, std::size_t>> types{{"<f4", 4}, {"<i8", 8}, {"<i4", 4}, {"<i2", 2},
                                                               {"|i1", 1}, {"<u8", 8}, {"<u4", 4}, {"<u2", 2},
                                                               {"|u1", 1}, {"|b1", 1}};
  for (const auto& [descr, item] : types) {
    NpyArray array{descr, {kRows, 2, kFeatures / 2}, std::string(kRows * kFeatures * item, '\0')};
    // The lowest byte alone: small numbers in every type, tiny ones in f4.
    for (std::size_t k = 0; k < kRows * kFeatures; ++k)
      array.bytes[k * item] = static_cast<char>(7 * k % 128);
    WriteNpy(files_.x, array);
    SCOPED_TRACE(descr);
    ExpectAsLoaded(SpecOf(Format::kNpy), files_);
  }
}

TEST_F(StoredNpy, ReadsIdx) {
  std::vector<std::uint8_t> values(kRows * kFeatures);
  std::iota(values.begin(), values.end(), std::uint8_t{200});  // past 255, too
  WriteIdx(folder_ / "x.idx", {{kRows, 2, 3}, values});
  WriteIdx(folder_ / "y.idx", {{kRows}, {0, 1, 2, 1, 0}});
  ExpectAsLoaded(SpecOf(Format::kIdx), {folder_ / "x.idx", folder_ / "y.idx", {}});
}

TEST_F(StoredNpy, LeavesToLoadWhatFitsOrIsNotInRows) {
  const DataSpec spec = SpecOf(Format::kNpy);
  const std::size_t bytes = kRows * kFeatures * sizeof(float);
  EXPECT_FALSE(LoadStored(spec, files_, bytes));
  EXPECT_TRUE(LoadStored(spec, files_, bytes - 1));
  EXPECT_FALSE(LoadStored(SpecOf(Format::kNpz), {{}, {}, files_.x}, 0));
  EXPECT_FALSE(StoredRows::Open(SpecOf(Format::kCsv), files_.x));
  const auto packed = folder_ / "x.npy.gz";
  WriteFile(packed, FormatNpy(NpyFromDoubles({kRows, kFeatures}, values_)));
  EXPECT_FALSE(LoadStored(spec, {packed, files_.y, {}}, 0));
  std::string fortran = RawBytes(files_.x);
  fortran.replace(fortran.find("False"), 5, "True ");
  EXPECT_FALSE(LoadStored(spec, {folder_.Put("f.npy", fortran), files_.y, {}}, 0));
}

// Version 2 with a padded dictionary.
TEST_F(StoredNpy, ReadsAnNpyFileWithALongHead) {
  const std::string content = RawBytes(files_.x);
  const NpyHeader header = ParseNpyHeader(content, files_.x);
  const std::string dictionary = content.substr(10, header.length - 10) + std::string(1 << 16, ' ');
  std::string head("\x93NUMPY\x02\x00", 8);
  for (const int shift : {0, 8, 16, 24}) head += static_cast<char>(dictionary.size() >> shift & 0xFFU);
  const DataFiles files{
      folder_.Put("long.npy", head + dictionary + content.substr(header.length)), files_.y, {}};
  ExpectAsLoaded(SpecOf(Format::kNpy), files);
  EXPECT_EQ(Load(SpecOf(Format::kNpy), files).x, Load(SpecOf(Format::kNpy), files_).x);
}

TEST_F(StoredNpy, RefusesWhatLoadRefusesInTheSameWords) {
  const auto same = [&](const DataSpec& spec, std::optional<std::int64_t> capacity, const std::string& text) {
    const auto loaded = ErrorText<DataError>([&] { (void)Load(spec, files_, capacity); });
    EXPECT_EQ(ErrorText<DataError>([&] { (void)LoadStored(spec, files_, 0, capacity); }), loaded);
    EXPECT_THAT(loaded, HasSubstr(text));
  };
  DataSpec spec = SpecOf(Format::kNpy);
  same(spec, 4, "found 5 rows, expected at most the 4");
  spec.features = 5;
  same(spec, {}, "found 6 features in a row, expected 5");
  spec = SpecOf(Format::kNpy);
  spec.classes = 2;
  same(spec, {}, "row 2: found label 2, expected a class of 0 to 1");
  spec = SpecOf(Format::kNpy);
  values_[4 * kFeatures + 1] = std::numeric_limits<double>::quiet_NaN();
  Write();
  same(spec, {}, "row 5, column 2: found nan");
  folder_.Put("x.npy", "no array");
  same(spec, {}, "x.npy");
}

TEST_F(StoredNpy, FindsBytesThatTheScaleMakesTooLarge) {
  NpyArray array{"|u1", {kRows, kFeatures}, std::string(kRows * kFeatures, '\1')};
  array.bytes.back() = '\xFF';
  WriteNpy(files_.x, array);
  DataSpec spec = SpecOf(Format::kNpy);
  spec.scale = 1e-7;
  EXPECT_THAT(ErrorText<DataError>([&] { (void)LoadStored(spec, files_, 0); }),
              HasSubstr("row 5, column 6: found 2.55e+09"));
}

TEST_F(StoredNpy, NamesWhatBecameOfAFileThatIsCutMeanwhile) {
  const auto stored = LoadStored(SpecOf(Format::kNpy), files_, 0);
  ASSERT_TRUE(stored);
  const auto size = std::filesystem::file_size(files_.x);
  std::filesystem::resize_file(files_.x, size - 1);
  std::vector<float> row(kFeatures);
  EXPECT_NO_THROW(stored->x.Read(3, row));
  EXPECT_THAT(ErrorText<DataError>([&] { stored->x.Read(4, row); }),
              HasSubstr("found the end of the file, expected " + std::to_string(size) + " bytes"));
}

}  // namespace
}  // namespace trefoil::data
