#include "data/tables/table_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/dataset/load.h"
#include "data/dealing/split.h"
#include "tests/data/temporary_folder.h"

namespace trefoil::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class TableReaderTest : public testing::Test {
 protected:
  /// Files a.csv, b.csv ... of these contents, as one table.
  [[nodiscard]] DataFiles Put(const std::vector<std::string>& contents) const {
    std::vector<std::filesystem::path> files;
    for (const auto& content : contents)
      files.push_back(folder_.Put(
          std::string(1, static_cast<char>('a' + static_cast<char>(files.size()))) + ".csv", content));
    DataFiles table;
    table.SetTable(files);
    return table;
  }

  [[nodiscard]] std::string Error(const std::vector<std::string>& contents,
                                  std::optional<std::int64_t> capacity = {}) const {
    const auto files = Put(contents);
    return ErrorText<DataError>([&] { (void)Load(spec_, files, capacity); });
  }

  TemporaryFolder folder_;
  DataSpec spec_ = [] {
    DataSpec spec;
    spec.name = std::string("t");
    spec.format = Format::kCsv;
    spec.features = 1;
    spec.columns = {{.name = "age", .kind = ColumnKind::kNumber, .values = {}}};
    spec.label = {.column = "rich", .values = {"no", "yes"}, .aliases = {}};
    return spec;
  }();
};

TEST_F(TableReaderTest, ReadsSeveralFilesAsOneTable) {
  const auto table = Load(spec_, Put({"age,rich\n1,no\n2,yes", "age,rich\r\n", "\"age\", rich\n3,no\n"}), 3);
  ASSERT_EQ(table.x.rows(), 3);
  EXPECT_EQ(table.x(2, 0), 3);
  EXPECT_THAT(table.y, ElementsAre(0, 1, 0));

  spec_.header = false;
  EXPECT_THAT(Load(spec_, Put({"1,no\n", "", "3,yes\n"})).y, ElementsAre(0, 1));
  EXPECT_THAT(Load(spec_, Put({"1\n", "3\n"}), {}, LabelUse::kIgnored).x.rows(), 2);
}

TEST_F(TableReaderTest, NamesFileLineAndColumnOfAnError) {
  const std::string good = "age,rich\n1,no\n";
  EXPECT_THAT(Error({good, "age,rich\n1,no\nx,no\n"}),
              HasSubstr("b.csv: row 3, column \"age\": found \"x\", expected a number"));
  EXPECT_THAT(Error({good, good, "age,rich\n1\n"}), HasSubstr("c.csv: row 2: found 1 fields, expected 2"));
  EXPECT_THAT(Error({good, "rich,age\nno,1\n"}),
              AllOf(HasSubstr("b.csv: row 1, column 1: found \"rich\", expected \"age\", as in "),
                    HasSubstr("a.csv")));
  EXPECT_THAT(Error({good, "age,rich,age\n"}),
              HasSubstr("b.csv: row 1: found 3 columns, expected the 2 of "));
  EXPECT_THAT(Error({good, good, ""}),
              HasSubstr("c.csv: row 1: found an empty file, expected the header of "));
  EXPECT_THAT(Error({good, good, good}, 2),
              HasSubstr("a.csv and 2 more files: found 3 rows, expected at most the 2"));
  EXPECT_THAT(Error({good, good}, 1), HasSubstr("a.csv and 1 more file: found 2 rows"));
}

TEST_F(TableReaderTest, RefusesSeveralFilesOfAnotherFormat) {
  const auto files = Put({"", ""});
  spec_ = {};
  spec_.format = Format::kNpz;
  spec_.features = 1;
  EXPECT_THAT(ErrorText<ConfigError>([&] { (void)Load(spec_, files); }), HasSubstr("found several files"));
}

TEST_F(TableReaderTest, IsDealtAsOneTable) {
  spec_.rows = {2, 1, 1};
  const auto files = Put({"age,rich\n1,no\n2,yes", "age,rich\n3,no\n4,no\n"});
  const std::array<std::filesystem::path, 3> parties{folder_ / "0", folder_ / "1", folder_ / "2"};
  EXPECT_THAT(SplitSource(spec_, files, {}, parties).rows, ElementsAre(2, 1, 1));
  EXPECT_EQ(RawBytes(parties[0] / "data/train.csv"), "age,rich\n1,no\n4,no\n");
  EXPECT_EQ(RawBytes(parties[1] / "data/train.csv"), "age,rich\n2,yes\n");

  // A mark decides what a file's bytes are, where the job says another encoding.
  spec_.dialect.encoding = Encoding::kLatin1;
  const auto mixed = Put({"age,rich\n1,no\n",
                          "\xEF\xBB\xBF"
                          "age,rich\n3,no\n"});
  EXPECT_THAT(ErrorText<DataError>([&] { (void)SplitSource(spec_, mixed, {}, parties); }),
              HasSubstr("b.csv: found a byte order mark, expected the same as in "));
}

}  // namespace
}  // namespace trefoil::data
