#include "data/dataset/vertical.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/dataset/load.h"
#include "data/dealing/split.h"
#include "data/formats/csv.h"
#include "tests/data/temporary_folder.h"

namespace trefoil::data {
namespace {

using testing::HasSubstr;

/// Party 0: a number; party 1: a category and a note; party 2: the label only.
DataSpec SplitPeopleSpec(bool header) {
  DataSpec spec;
  spec.name = "people";
  spec.format = Format::kCsv;
  spec.rows = {10, 10, 10};
  spec.features = 3;
  spec.header = header;
  spec.vertical = true;
  spec.columns = {{"age", ColumnKind::kNumber, 40, 10, {}, 0},
                  {"id", ColumnKind::kKey, 0, 1, {}, 0},
                  {"job", ColumnKind::kCategory, 0, 1, {"clerk", "nurse, or pilot"}, 1},
                  {"note", ColumnKind::kIgnore, 0, 1, {}, 1}};
  spec.label = {.column = "rich", .values = {"no", "yes"}, .aliases = {}, .party = 2};
  return spec;
}

TEST(PartOf, HasAPartysColumnsAndTheKey) {
  const DataSpec spec = SplitPeopleSpec(true);
  const auto names = [&](int party) {
    std::vector<std::string> all;
    for (const auto& column : PartOf(spec, party).columns) all.push_back(column.name);
    return all;
  };
  EXPECT_EQ(names(0), (std::vector<std::string>{"age", "id"}));
  EXPECT_EQ(names(1), (std::vector<std::string>{"id", "job", "note"}));
  EXPECT_EQ(names(2), (std::vector<std::string>{"id"}));
  EXPECT_EQ(PartFeatures(spec), (std::array<std::int64_t, 3>{1, 2, 0}));
  DataSpec declared = spec;
  declared.columns.push_back({"rich", ColumnKind::kNumber, 0, 1, {}, 0});
  EXPECT_EQ(PartOf(declared, 2).columns.size(), 2U) << "the label goes with its party, not its column's";
  EXPECT_EQ(PartOf(declared, 0).columns.size(), 2U);
}

class SplitColumnsTest : public testing::TestWithParam<bool> {};

TEST_P(SplitColumnsTest, GivesEachPartyAFileThatItsPartReads) {
  const TemporaryFolder folder;
  DataSpec spec = SplitPeopleSpec(GetParam());
  const std::string header = GetParam() ? "age,id,job,note,rich\n" : "";
  const auto file = folder.Put(
      "people.csv", header + "50,b,clerk,x,yes\n30,\"a\"\"q\",\"nurse, or pilot\",,no\n?,c,?,z,no\n");
  const SplitReport report =
      SplitSource(spec, {{}, {}, file}, {}, {folder / "0", folder / "1", folder / "2"});
  EXPECT_EQ(report.rows, (std::array<std::int64_t, 3>{3, 3, 3}));
  EXPECT_EQ(report.left_out, 0);
  std::array<Table, 3> tables;
  for (int party = 0; party < 3; ++party) {
    const auto part = PartyFiles(Format::kCsv, folder / std::to_string(party));
    auto& table = tables.at(static_cast<std::size_t>(party));
    table = Load(PartOf(spec, party), part, 10, party == 2 ? LabelUse::kRead : LabelUse::kIgnored);
    SortByKey(table, part.file);
    EXPECT_EQ(table.keys, (std::vector<std::string>{"a\"q", "b", "c"}));
  }
  EXPECT_EQ(tables[0].x, Eigen::Vector3f(-1, 1, 0));
  EXPECT_EQ(tables[1].x, (Matrix(3, 2) << 0, 1, 1, 0, 0, 0).finished());
  EXPECT_EQ(tables[2].x.cols(), 0);
  EXPECT_EQ(tables[2].y, (std::vector<int>{0, 1, 0}));
  EXPECT_TRUE(tables[0].y.empty());
  EXPECT_EQ(RawBytes(folder / "0/data/train.csv").find("clerk"), std::string::npos);

  spec.rows = {2, 2, 2};
  const SplitReport cut = SplitSource(spec, {{}, {}, file}, {}, {folder / "3", folder / "4", folder / "5"});
  EXPECT_EQ(cut.rows[1], 2);
  EXPECT_EQ(cut.left_out, 1);
}

INSTANTIATE_TEST_SUITE_P(Header, SplitColumnsTest, testing::Bool());

TEST(SplitCsvColumns, WritesFilesThatTheJobsEncodingReads) {
  const TemporaryFolder folder;
  DataSpec spec = SplitPeopleSpec(true);
  spec.dialect = {.separator = ';', .encoding = Encoding::kLatin1};
  spec.columns[2].values = {"Caf\u00E9; Bar", "Bern"};
  const auto file =
      folder.Put("people.csv", "age;id;job;note;rich\n50;b;\"Caf\xE9; Bar\";\xFC;yes\n30;a;Bern;;no\n");
  SplitSource(spec, {{}, {}, file}, {}, {folder / "0", folder / "1", folder / "2"});
  const auto part = PartyFiles(Format::kCsv, folder / "1");
  EXPECT_EQ(Load(PartOf(spec, 1), part, 10, LabelUse::kIgnored).x, (Matrix(2, 2) << 1, 0, 0, 1).finished());
}

TEST(SortByKey, TakesWeightsAlong) {
  const TemporaryFolder folder;
  Table table{.x = Matrix::Zero(3, 1), .y = {0, 1, 0}, .keys = {"c", "a", "b"}, .weights = {3, 1, 2}};
  SortByKey(table, folder / "p.csv");
  EXPECT_EQ(table.weights, (std::vector<double>{1, 2, 3}));
}

TEST(SortByKey, NamesTheRecordAndNotTheKeyThatOccursTwice) {
  const TemporaryFolder folder;
  const auto file = folder.Put("p.csv", "50,secret\n30,a\n20,secret\n");
  Table table = Load(PartOf(SplitPeopleSpec(false), 0), {{}, {}, file}, 10, LabelUse::kIgnored);
  const auto text = ErrorText<DataError>([&] { SortByKey(table, file); });
  EXPECT_THAT(text, HasSubstr("p.csv: record 3: found the key of an earlier record, expected each key once"));
  EXPECT_EQ(text.find("secret"), std::string::npos);
}

TEST(ReadCsv, RefusesAnEmptyKey) {
  const TemporaryFolder folder;
  const auto file = folder.Put("p.csv", "50,a\n30,\n");
  EXPECT_THAT(ErrorText<DataError>([&] {
                (void)Load(PartOf(SplitPeopleSpec(false), 0), {{}, {}, file}, 10, LabelUse::kIgnored);
              }),
              HasSubstr("row 2, column \"id\": found \"\", expected a key"));
}

}  // namespace
}  // namespace trefoil::data
