#include "jobs/records/owner_warnings.h"

#include <gmock/gmock.h>

#include "base/files/files.h"
#include "jobs/records/load_records.h"
#include "tests/apps/temporary_folder.h"

namespace trefoil::jobs {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// Columns a, colour (red, green, blue) and b, and the classes yes, no and maybe.
RecordSchema PaintTable() {
  RecordSchema schema;
  auto& data = schema.data;
  data.name = "table";
  data.format = data::Format::kCsv;
  data.rows = {4, 10, 10};
  data.features = 5;
  data.classes = 3;
  data.columns.resize(3);
  data.columns[0].name = "a";
  data.columns[1].name = "colour";
  data.columns[1].kind = data::ColumnKind::kCategory;
  data.columns[1].values = {"red", "green", "blue"};
  data.columns[2].name = "b";
  data.label.column = "label";
  data.label.values = {"yes", "no", "maybe"};
  schema.features.row_norm = 4;
  return schema;
}

/// Of the party whose file this is.
std::vector<std::string> ToldOf(const RecordSchema& schema, const std::string& rows, int party = 0) {
  const TemporaryFolder folder;
  const data::DataFiles files{.x = {}, .y = {}, .file = folder.path() / "rows.csv"};
  WriteTextFile(files.file, "a,colour,b,label\n" + rows);
  return OwnerWarnings(schema, party, LoadOwnRecords(schema, party, files));
}

TEST(OwnerWarnings, AreNoneWhereEverythingDeclaredIsThere) {
  EXPECT_THAT(ToldOf(PaintTable(), "1,red,0,yes\n0,green,0,no\n0,blue,1,maybe\n"), IsEmpty());
  EXPECT_THAT(
      ToldOf(PaintTable(), "1,red,0,yes\n0,green,0,no\n0,blue,1,maybe\n1,red,0,yes\n1,red,0,yes\n", 1),
      IsEmpty());
}

TEST(OwnerWarnings, NameClassesAndCategoriesThatNoRowHas) {
  EXPECT_THAT(ToldOf(PaintTable(), "1,red,0,yes\n0,blue,0,no\n0,blue,1,no\n"),
              ElementsAre(HasSubstr("the declared class \"maybe\"; a job without it would tell"),
                          HasSubstr("\"green\" of column \"colour\"; a job without it would tell")));
}

TEST(OwnerWarnings, NameBinsThatNoRowIsInAndCountUnknownValues) {
  auto schema = PaintTable();
  auto& bins = schema.data.columns[2];
  bins.kind = data::ColumnKind::kBin;
  bins.edges = {0, 10};
  bins.missing_indicator = true;
  schema.data.columns[1].unknown = data::UnknownValue::kMissing;
  schema.data.features = data::CountFeatures(schema.data);
  EXPECT_THAT(
      ToldOf(schema, "1,red,0,yes\n0,mauve,20,no\n0,blue,1,maybe\n1,green,?,no\n"),
      ElementsAre(HasSubstr("1 of 4 rows have none of the declared values of column \"colour\", or no value"),
                  HasSubstr("no row is in the declared bin \"below 0\" of column \"b\"; a job without it")));
}

TEST(OwnerWarnings, CountUnknownValuesThatAreFilledInByTheirIndicator) {
  auto schema = PaintTable();
  auto& colour = schema.data.columns[1];
  colour.unknown = data::UnknownValue::kMissing;
  colour.fill = "red";
  const std::string rows = "1,red,0,yes\n0,mauve,20,no\n0,blue,1,maybe\n1,green,0,no\n";
  EXPECT_THAT(ToldOf(schema, rows), IsEmpty());
  colour.missing_indicator = true;
  schema.data.features = data::CountFeatures(schema.data);
  EXPECT_THAT(ToldOf(schema, rows),
              ElementsAre(HasSubstr("1 of 4 rows have none of the declared values of column \"colour\"")));
}

TEST(OwnerWarnings, FindTheColumnsOfAValueWhereTheLabelStandsAmongThem) {
  auto schema = PaintTable();
  data::Column label;
  label.name = "label";
  schema.data.columns.insert(schema.data.columns.begin() + 1, label);
  const TemporaryFolder folder;
  const data::DataFiles files{.x = {}, .y = {}, .file = folder.path() / "rows.csv"};
  WriteTextFile(files.file, "a,label,colour,b\n1,yes,red,0\n0,no,green,0\n2,maybe,red,1\n");
  EXPECT_THAT(OwnerWarnings(schema, 0, LoadOwnRecords(schema, 0, files)), ElementsAre(HasSubstr("\"blue\"")));
}

TEST(OwnerWarnings, SayThatLessThanHalfOfTheRowsAreThere) {
  const std::string rows = "1,red,0,yes\n0,green,0,no\n0,blue,1,maybe\n1,red,1,yes\n";
  EXPECT_THAT(ToldOf(PaintTable(), rows, 1),
              ElementsAre(HasSubstr("declares 10 rows for this party, and its file has 4")));
}

TEST(OwnerWarnings, SayThatRowsAreShortened) {
  const std::string rows = "9,red,0,yes\n0,green,0,no\n-7,blue,1,maybe\n";
  EXPECT_THAT(ToldOf(PaintTable(), rows),
              ElementsAre(HasSubstr("2 of 3 rows have reached features.row_norm, 4,")));
  // A norm that is not below the rule's shortens some rows of most tables.
  EXPECT_THAT(ToldOf(PaintTable(), "9,red,0,yes\n0,green,0,no\n0,blue,1,maybe\n"), IsEmpty());
  ml::OwnRecords wide;
  wide.x.setOnes(3, 33);
  wide.y = {0, 1, 2};
  auto schema = PaintTable();
  schema.data.columns.clear();
  schema.features.row_norm = 1;
  EXPECT_THAT(OwnerWarnings(schema, 0, wide), ElementsAre(HasSubstr("3 of 3 rows have reached")));
  wide.x.topRows(2).setZero();  // of so many columns one of three rows is not worth a line
  EXPECT_THAT(OwnerWarnings(schema, 0, wide), IsEmpty());
  wide.x.setOnes();
  schema.data.format = data::Format::kNpy;  // brought to one length on purpose
  EXPECT_THAT(OwnerWarnings(schema, 0, wide), IsEmpty());
}

TEST(OwnerWarnings, OfRowsAndClassesNeedNoFeatures) {
  const std::vector<int> few{0, 0, 1};
  EXPECT_THAT(OwnerWarnings(PaintTable(), 1, few),
              ElementsAre(HasSubstr("declares 10 rows for this party, and its file has 3"),
                          HasSubstr("the declared class \"maybe\"")));
  EXPECT_THAT(OwnerWarnings(PaintTable(), 0, std::vector<int>{0, 1, 2}), IsEmpty());
}

TEST(OwnerWarnings, OfCountsAreOfValues) {
  const std::vector<std::string> values{"red", "green", "blue"};
  EXPECT_THAT(
      OwnerWarnings(10, values, {.records = 4, .of_values = {1, 0, 2}}),
      ElementsAre(
          HasSubstr("declares 10 rows for this party, and its file has 4"),
          HasSubstr("no record has 1 of the 3 declared values, \"green\" first of all; a job without"),
          HasSubstr("1 of 4 records have none of the declared values, and count for none; a job that")));
  EXPECT_THAT(OwnerWarnings(3, values, {.records = 3, .of_values = {1, 1, 1}}), IsEmpty());
  EXPECT_THAT(OwnerWarnings(3, values, {.records = 0, .of_values = {0, 0, 0}}),
              ElementsAre(HasSubstr("its file has 0")));
}

}  // namespace
}  // namespace trefoil::jobs
