#include "data/formats/csv_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/data/temporary_folder.h"

namespace trefoil::data {
namespace {

using testing::HasSubstr;
using Records = std::vector<std::vector<std::string>>;

struct Case {
  std::string name;
  std::string content;
  Records records;
};

class CsvReaderTest : public testing::TestWithParam<Case> {};

TEST_P(CsvReaderTest, ReadsTheRecords) {
  const TemporaryFolder folder;
  CsvReader reader(folder.Put("a.csv", GetParam().content));
  Records records;
  std::string texts;
  while (reader.Next()) {
    records.push_back(reader.fields());
    texts += reader.text();
  }
  EXPECT_EQ(records, GetParam().records);
  EXPECT_TRUE(GetParam().content.find(texts) != std::string::npos) << "texts are the file's own bytes";
}

INSTANTIATE_TEST_SUITE_P(
    Forms, CsvReaderTest,
    testing::Values(Case{"plain", "a,b\nc,d\n", {{"a", "b"}, {"c", "d"}}},
                    Case{"without_last_line_end", "a,b\nc,d", {{"a", "b"}, {"c", "d"}}},
                    Case{"carriage_returns", "a,b\r\nc,d\r\n", {{"a", "b"}, {"c", "d"}}},
                    Case{"last_carriage_return_alone", "a,b\r", {{"a", "b"}}},
                    Case{"blanks_trimmed", " a , b c\t,d \n", {{"a", "b c", "d"}}},
                    Case{"empty_lines_at_the_end", "a,b\n\n \r\n\n", {{"a", "b"}}},
                    Case{"empty_fields", ",a,\n", {{"", "a", ""}}},  //
                    Case{"byte_order_mark",
                         "\xEF\xBB\xBF"
                         "a,b\n",
                         {{"a", "b"}}},
                    Case{"quoted", "\"a,b\", \"say \"\"x\"\"\" ,\" c \"\n", {{"a,b", "say \"x\"", " c "}}},
                    Case{"quoted_line_end", "\"a\nb\",c\nd,e\n", {{"a\nb", "c"}, {"d", "e"}}},
                    Case{"quoted_empty", "\"\",\"\"\"\"", {{"", "\""}}},
                    Case{"quote_inside", "5\" disk,b\n", {{"5\" disk", "b"}}},  //
                    Case{"empty_file", "", {}}, Case{"only_line_ends", "\n\r\n", {}}),
    [](const auto& info) { return info.param.name; });

TEST(CsvReader, CountsLinesOfTheFileAlsoInsideQuotes) {
  const TemporaryFolder folder;
  CsvReader reader(folder.Put("a.csv", "a\n\"b\nc\"\r\nd\n"));
  std::vector<std::size_t> rows;
  while (reader.Next()) rows.push_back(reader.row());
  EXPECT_EQ(rows, (std::vector<std::size_t>{1, 2, 4}));
  EXPECT_EQ(reader.Place("x"), "row 4, column \"x\"");
}

TEST(CsvReader, KeepsTheBytesOfARecord) {
  const TemporaryFolder folder;
  CsvReader reader(folder.Put("a.csv",
                              "\xEF\xBB\xBF"
                              "1 , \"x\"\r\n2,y"));
  ASSERT_TRUE(reader.Next());
  EXPECT_EQ(reader.text(), "1 , \"x\"\r\n");
  ASSERT_TRUE(reader.Next());
  EXPECT_EQ(reader.text(), "2,y");
  EXPECT_FALSE(reader.Next());
}

TEST(CsvReader, NamesTheRowOfAMalformedRecord) {
  const TemporaryFolder folder;
  const auto error = [&](const std::string& content) {
    CsvReader reader(folder.Put("a.csv", content));
    return ErrorText<DataError>([&] {
      while (reader.Next()) {
      }
    });
  };
  EXPECT_THAT(error("a\n\nb\n"), HasSubstr("a.csv: row 2: found an empty line"));
  EXPECT_THAT(error("a\n\"b\nc"), HasSubstr("row 2: found a quoted field without an end"));
  EXPECT_THAT(error("a\nb,\"c\"d\n"), HasSubstr("row 2: found text after a closing quote"));
}

}  // namespace
}  // namespace trefoil::data
