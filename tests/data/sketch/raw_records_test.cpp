#include "data/sketch/raw_records.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <string>
#include <vector>

#include "base/error.h"
#include "data/formats/cifar.h"
#include "data/formats/file.h"
#include "data/formats/idx.h"
#include "data/formats/numpy/npy.h"
#include "data/formats/numpy/npz.h"
#include "tests/data/temporary_folder.h"

namespace trefoil::data {
namespace {

using testing::ElementsAre;

class RawRecords : public testing::Test {
 protected:
  [[nodiscard]] static std::vector<std::string> All(const DataFiles& files) {
    std::vector<std::string> records;
    ForEachRawRecord(files, [&](std::string_view record) { records.emplace_back(record); });
    return records;
  }
  [[nodiscard]] std::vector<std::string> OfTable(const std::string& name, const std::string& content) const {
    WriteFile(folder_ / name, content);
    return All(OneFile(folder_ / name));
  }

  TemporaryFolder folder_;
};

TEST_F(RawRecords, AreTheSameHoweverATableIsWritten) {
  const auto expected = ElementsAre("1,5,anna", "2,5,bob");
  EXPECT_THAT(OfTable("a.csv", "age,name\n1.5,anna\n2.5,bob\n"), expected);
  EXPECT_THAT(OfTable("b.csv", "\xEF\xBB\xBF\"age\";\"name\"\r\n1,5;\"anna\"\r\n\r\n 2,5 ;bob"), expected);
  EXPECT_THAT(OfTable("c.csv.gz", "age\tname\n1.5\tanna\n2.5\tbob\n"), expected);
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open((folder_ / "t.db").c_str(), &database), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(database, "CREATE TABLE t (a, b); INSERT INTO t VALUES (1.5, 'anna'), (2.5, 'bob')",
                         nullptr, nullptr, nullptr),
            SQLITE_OK);
  sqlite3_close(database);
  EXPECT_THAT(All({.x = {}, .y = {}, .file = folder_ / "t.db", .more = {}, .query = "SELECT * FROM t"}),
              expected);
}

TEST_F(RawRecords, LeaveOutTheFirstLineOfEachFile) {
  WriteFile(folder_ / "a.csv", "x\n1\n");
  WriteFile(folder_ / "b.csv", "x\n2\n3\n");
  DataFiles files;
  files.SetTable({folder_ / "a.csv", folder_ / "b.csv"});
  EXPECT_THAT(All(files), ElementsAre("1", "2", "3"));
  EXPECT_TRUE(OfTable("empty.csv", "").empty());
}

TEST_F(RawRecords, AreTheRowsOfArrays) {
  const std::vector<double> values{1, 2, 3, 4};
  const auto array = NpyFromDoubles({2, 2}, values);
  const auto rows = ElementsAre(array.bytes.substr(0, 16), array.bytes.substr(16));
  WriteNpy(folder_ / "x.npy", array);
  EXPECT_THAT(All({.x = folder_ / "x.npy", .y = folder_ / "no such file", .file = {}}), rows);
  WriteNpz(folder_ / "d.npz", {{"x", array}, {"y", NpyFromIntegers({2}, std::vector<std::int64_t>{0, 1})}});
  EXPECT_THAT(All(OneFile(folder_ / "d.npz")), rows);
  WriteIdx(folder_ / "x.gz", {.shape = {2, 3}, .values = {'a', 'b', 'c', 'd', 'e', 'f'}});
  EXPECT_THAT(All({.x = folder_ / "x.gz", .y = {}, .file = {}}), ElementsAre("abc", "def"));
}

TEST_F(RawRecords, AreTheImagesOfCifar) {
  const std::string first = std::string(1, '\0').append(kCifarValues, 'a');
  const std::string second = std::string(1, '\1').append(kCifarValues, 'b');
  EXPECT_THAT(OfTable("batch.bin", first + second), ElementsAre(first, second));
}

TEST_F(RawRecords, AreTheFilesOfAFolderOfImagesOrTheRowsOfCifars) {
  std::filesystem::create_directories(folder_ / "train/dog");
  const std::string a = "\xff\xd8\xff a";  // as a JPEG file begins
  const std::string b = "\xff\xd8\xff b";
  folder_.Put("train/dog/1.png", a);
  folder_.Put("train/2.png", b);
  EXPECT_THAT(All(OneFile(folder_ / "train")), ElementsAre(b, a));
  folder_.Put("train/dog/notes", "");
  EXPECT_THROW((void)All(OneFile(folder_ / "train")), DataError);
  const std::string row = std::string(1, '\0').append(kCifarValues, 'a');
  for (const char k : {'1', '2', '3', '4', '5'})
    folder_.Put(std::string("train/data_batch_") + k + ".bin", k == '3' ? row : "");
  EXPECT_THAT(All(OneFile(folder_ / "train")), ElementsAre(row));
}

TEST_F(RawRecords, NameAFileThatCannotBeRead) {
  EXPECT_THROW((void)All(OneFile(folder_ / "none.csv")), DataError);
  EXPECT_THROW((void)All({.x = folder_ / "none.npy", .y = {}, .file = {}}), DataError);
}

}  // namespace
}  // namespace trefoil::data
