#include "data/formats/csv_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/data/temporary_folder.h"

namespace trefoil::data {
namespace {

using testing::HasSubstr;
using Records = std::vector<std::vector<std::string>>;

struct CsvCase {
  std::string name;
  std::string content;
  Records records;
};

class CsvReaderTest : public testing::TestWithParam<CsvCase> {};

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
    testing::Values(CsvCase{"plain", "a,b\nc,d\n", {{"a", "b"}, {"c", "d"}}},
                    CsvCase{"without_last_line_end", "a,b\nc,d", {{"a", "b"}, {"c", "d"}}},
                    CsvCase{"carriage_returns", "a,b\r\nc,d\r\n", {{"a", "b"}, {"c", "d"}}},
                    CsvCase{"last_carriage_return_alone", "a,b\r", {{"a", "b"}}},
                    CsvCase{"blanks_trimmed", " a , b c\t,d \n", {{"a", "b c", "d"}}},
                    CsvCase{"empty_lines_at_the_end", "a,b\n\n \r\n\n", {{"a", "b"}}},
                    CsvCase{"empty_fields", ",a,\n", {{"", "a", ""}}},  //
                    CsvCase{"byte_order_mark",
                            "\xEF\xBB\xBF"
                            "a,b\n",
                            {{"a", "b"}}},
                    CsvCase{"quoted", "\"a,b\", \"say \"\"x\"\"\" ,\" c \"\n", {{"a,b", "say \"x\"", " c "}}},
                    CsvCase{"quoted_line_end", "\"a\nb\",c\nd,e\n", {{"a\nb", "c"}, {"d", "e"}}},
                    CsvCase{"quoted_empty", "\"\",\"\"\"\"", {{"", "\""}}},
                    CsvCase{"quote_inside", "5\" disk,b\n", {{"5\" disk", "b"}}},  //
                    CsvCase{"empty_file", "", {}}, CsvCase{"only_line_ends", "\n\r\n", {}}),
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

Records ReadRecords(const std::filesystem::path& file, const CsvDialect& dialect) {
  CsvReader reader(file, dialect);
  Records records;
  while (reader.Next()) records.push_back(reader.fields());
  return records;
}

TEST(CsvReader, KnowsOtherSeparators) {
  const TemporaryFolder folder;
  EXPECT_EQ(ReadRecords(folder.Put("a.csv", "1,5; b;\"c;d\" ;\n"), {.separator = ';'}),
            (Records{{"1,5", "b", "c;d", ""}}));
  EXPECT_EQ(ReadRecords(folder.Put("a.csv", "a||\"b\nc\"\r\n"), {.separator = '|'}),
            (Records{{"a", "", "b\nc"}}));
  // Tabs separate, so that they are no blanks and a line of nothing else is a record.
  EXPECT_EQ(ReadRecords(folder.Put("a.csv", "a\t\tb \t\n\t\t\t\n \n"), {.separator = '\t'}),
            (Records{{"a", "", "b", ""}, {"", "", "", ""}}));
  CsvReader reader(folder.Put("a.csv", "\"a\",b\n"), {.separator = ';'});
  EXPECT_THAT(ErrorText<DataError>([&] { (void)reader.Next(); }),
              HasSubstr("row 1: found text after a closing quote, expected a separator or the line's end"));
}

TEST(CsvReader, TurnsEncodingsIntoUtf8) {
  const TemporaryFolder folder;
  const auto file = folder.Put("a.csv", "Z\xFCrich,\"\xE9\xFF\"\n");
  const Records zurich{{"Z\u00FCrich", "\u00E9\u00FF"}};
  EXPECT_EQ(ReadRecords(file, {.encoding = Encoding::kLatin1}), zurich);
  EXPECT_EQ(ReadRecords(file, {.encoding = Encoding::kWindows1252}), zurich);
  EXPECT_EQ(ReadRecords(file, {}), (Records{{"Z\xFCrich", "\xE9\xFF"}}))
      << "bytes, where no encoding is said";
  EXPECT_EQ(ReadRecords(folder.Put("a.csv", "\x80 5,\x9F\x8C\n"), {.encoding = Encoding::kWindows1252}),
            (Records{{"\u20AC 5", "\u0178\u0152"}}));
  const std::string utf8 = "\u00E9\u20AC\U0001F600,\uD7FF\uE000\U0010FFFF\n";
  EXPECT_EQ(ReadRecords(folder.Put("a.csv", utf8), {.encoding = Encoding::kUtf8}),
            (Records{{"\u00E9\u20AC\U0001F600", "\uD7FF\uE000\U0010FFFF"}}));
  const auto marked = folder.Put("a.csv", "\xEF\xBB\xBF\u00E9\n");
  EXPECT_EQ(ReadRecords(marked, {.encoding = Encoding::kLatin1}), (Records{{"\u00E9"}}))
      << "the mark counts more";
}

TEST(CsvReader, RefusesBytesOfAnotherEncoding) {
  const TemporaryFolder folder;
  const auto error = [&](const std::string& content, std::optional<Encoding> encoding) {
    const auto file = folder.Put("a.csv", content);
    return ErrorText<DataError>([&] { (void)ReadRecords(file, {.encoding = encoding}); });
  };
  EXPECT_THAT(error("a,b\nc,\"x\nZ\xFCrich\ny\"\n", Encoding::kUtf8),
              HasSubstr("a.csv: row 3, field 2: found the byte 0xFC, expected utf-8"));
  EXPECT_THAT(
      error("a\n\x93quoted\x94\n", Encoding::kLatin1),
      HasSubstr("row 2, field 1: found the byte 0x93, expected latin-1, which has no bytes 0x80 to 0x9F "
                "(windows-1252 may be meant)"));
  EXPECT_THAT(error("a,\x81\n", Encoding::kWindows1252),
              HasSubstr("row 1, field 2: found the byte 0x81, expected windows-1252"));
  // Cut, overlong, surrogates, beyond the last character, a continuation alone.
  for (const auto* bytes : {"\xC3", "\xE2\x82", "\xC0\xAF", "\xE0\x80\xAF", "\xF0\x80\x80\xAF",
                            "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\x80", "\xC3\x28"})
    EXPECT_THAT(error(std::string("a") + bytes + ",b\n", Encoding::kUtf8), HasSubstr("expected utf-8"));
}

TEST(CsvReader, NamesFilesThatAreNoTexts) {
  const TemporaryFolder folder;
  const auto error = [&](const std::string& bytes) {
    const auto file = folder.Put("a.csv", bytes);
    return ErrorText<DataError>([&] { const CsvReader reader(file); });
  };
  const std::string zero(1, '\0');
  EXPECT_THAT(error("\xFF\xFE"
                    "a" +
                    zero),
              HasSubstr("a.csv: row 1: found the mark of UTF-16, expected a file saved as UTF-8"));
  EXPECT_THAT(error("a" + zero + ";" + zero + "b" + zero),
              HasSubstr("found zeros between the letters, as UTF-16"));
  EXPECT_THAT(error(zero + "a" + zero + ";"), HasSubstr("found zeros between the letters, as UTF-16"));
  EXPECT_THAT(error("SQLite format 3" + zero + "..."), HasSubstr("found an SQLite database, expected"));
  EXPECT_THAT(error("PAR1\x15\x04" + zero + "..."), HasSubstr("found a Parquet file, expected"));
  EXPECT_THAT(error("PK\x03\x04..."),
              HasSubstr("found a ZIP archive (as Excel's files are), expected a CSV file"));
  EXPECT_THAT(error("\xFD"
                    "7zXZ" +
                    zero),
              HasSubstr("found a file packed by xz, expected"));
  // Names of columns, and texts that have a zero.
  for (const auto& text : {std::string("ORCHID,PAR1\n"), std::string("PAR1\n"), "a,b" + zero + "c\n"})
    EXPECT_NO_THROW(CsvReader(folder.Put("a.csv", text))) << text;
}

}  // namespace
}  // namespace trefoil::data
