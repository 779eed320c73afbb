#include "data/formats/csv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/data/temporary_folder.h"

namespace trefoil::data {
namespace {

using testing::HasSubstr;

/// Three columns: a number, a category of three, one ignored; the label is no or yes.
DataSpec PeopleSpec(bool header) {
  DataSpec spec;
  spec.name = "people";
  spec.format = Format::kCsv;
  spec.features = 4;
  spec.header = header;
  spec.columns = {{"age", ColumnKind::kNumber, 40, 10, {}},
                  {"job", ColumnKind::kCategory, 0, 1, {"clerk", "nurse", "pilot"}},
                  {"note", ColumnKind::kIgnore, 0, 1, {}}};
  spec.label = {"rich", {"no", "yes"}, {{"no.", "no"}, {"yes.", "yes"}}};
  return spec;
}

Table Read(const TemporaryFolder& folder, const std::string& content, const DataSpec& spec) {
  return ReadCsv(OneFile(folder.Put("people.csv", content)), spec);
}

Matrix Rows(std::initializer_list<std::initializer_list<float>> rows) {
  Matrix matrix(static_cast<Eigen::Index>(rows.size()), 4);
  Eigen::Index i = 0;
  for (const auto& row : rows) {
    Eigen::Index k = 0;
    for (const float value : row) matrix(i, k++) = value;
    ++i;
  }
  return matrix;
}

TEST(CsvField, IsInQuotesWhereReadersWouldTakeItForSomethingElse) {
  EXPECT_EQ(CsvField("nurse or pilot"), "nurse or pilot");
  EXPECT_EQ(CsvField(""), "");
  EXPECT_EQ(CsvField("nurse, pilot"), "\"nurse, pilot\"");
  EXPECT_EQ(CsvField("a \"b\""), "\"a \"\"b\"\"\"");
  EXPECT_EQ(CsvField(" a"), "\" a\"");
  EXPECT_EQ(CsvField("a\t"), "\"a\t\"");
  EXPECT_EQ(CsvField("a\nb"), "\"a\nb\"");
}

TEST(ReadCsv, EncodesColumnsInOrderWithTheLabelLast) {
  const TemporaryFolder folder;
  const Table table = Read(folder, "50, nurse, x, yes\n 35 ,clerk,,no.\n\n", PeopleSpec(false));
  EXPECT_EQ(table.x, Rows({{1, 0, 1, 0}, {-0.5, 1, 0, 0}}));
  EXPECT_EQ(table.y, (std::vector<int>{1, 0}));
}

/// The column "note" as weights up to 2.5.
DataSpec WeighedPeople(bool header) {
  DataSpec spec = PeopleSpec(header);
  spec.columns[2].kind = ColumnKind::kWeight;
  spec.columns[2].largest = 2.5;
  return spec;
}

TEST(ReadCsv, ReadsWeightsThatAreNoFeatures) {
  const TemporaryFolder folder;
  const Table table =
      Read(folder, "50,nurse,0,yes\n35,clerk,2.5,no\n40,pilot,1e-1,no\n", WeighedPeople(false));
  EXPECT_EQ(table.x, Rows({{1, 0, 1, 0}, {-0.5, 1, 0, 0}, {0, 0, 0, 1}}));
  EXPECT_EQ(table.weights, (std::vector<double>{0, 2.5, 0.1}));
  DataSpec german = WeighedPeople(true);
  german.decimal = ',';
  EXPECT_EQ(Read(folder, "rich,note,job,age\nno,\"1,25\",nurse,50\n", german).weights,
            std::vector<double>{1.25});
}

TEST(ReadCsv, RefusesWeightsOutOfTheirRangeWithTheirPlace) {
  const TemporaryFolder folder;
  for (const std::string bad : {"-0.1", "2.51", "nan", "inf", "?", ""}) {
    const auto text = ErrorText<DataError>(
        [&] { (void)Read(folder, "50,nurse,1,yes\n35,clerk," + bad + ",no\n", WeighedPeople(false)); });
    EXPECT_THAT(text, HasSubstr("people.csv: row 2, column \"note\": found \"" + bad + "\", expected a "))
        << bad;
  }
  EXPECT_THAT(ErrorText<DataError>([&] { (void)Read(folder, "50,nurse,3,yes\n", WeighedPeople(false)); }),
              HasSubstr("expected a weight from 0 to 2.5"));
}

TEST(ReadCsv, NeedsNoWeightsWhereLabelsAreIgnored) {
  const TemporaryFolder folder;
  const auto ignoring = [&](const std::string& content) {
    return ReadCsv(OneFile(folder.Put("people.csv", content)), WeighedPeople(true), LabelUse::kIgnored);
  };
  for (const std::string content : {"age,job\n50,nurse\n", "age,job,note,rich\n50,nurse,heavy,perhaps\n"}) {
    const Table table = ignoring(content);
    EXPECT_EQ(table.x, Rows({{1, 0, 1, 0}}));
    EXPECT_TRUE(table.weights.empty());
  }
  EXPECT_THAT(
      ErrorText<DataError>([&] { (void)Read(folder, "age,job,rich\n50,nurse,yes\n", WeighedPeople(true)); }),
      HasSubstr("no column \"note\""));
}

TEST(ReadCsv, TakesNoWeightForAnotherColumnWithoutAHeader) {
  const TemporaryFolder folder;
  const auto ignoring = [&](const std::string& content) {
    return ReadCsv(OneFile(folder.Put("people.csv", content)), WeighedPeople(false), LabelUse::kIgnored);
  };
  EXPECT_EQ(ignoring("50,nurse,,\n").x, Rows({{1, 0, 1, 0}}));
  for (const std::string content : {"50,nurse,2\n", "50,nurse,yes\n"})
    EXPECT_THAT(ErrorText<DataError>([&] { (void)ignoring(content); }),
                HasSubstr("people.csv: row 1: found 3 fields, expected 4, with a weight and a label"));
}

TEST(ReadCsv, ReadsTargetsOfTheirRangeAndRefusesOthersWithTheirPlace) {
  const TemporaryFolder folder;
  DataSpec spec = PeopleSpec(false);
  spec.label = {"income", {}, {}};
  spec.target = TargetRange{.low = -1, .high = 3};
  const auto read = [&](const std::string& target) {
    return Read(folder, "50,nurse,,1\n35,clerk,," + target + "\n", spec).y.at(1);
  };
  EXPECT_EQ(read("-1.0"), 0);
  EXPECT_EQ(read("3e0"), 1 << kTargetBits);
  EXPECT_EQ(read("0"), 1 << (kTargetBits - 2));
  for (const auto& [target, expected] : {std::pair{"3.001", "\"3.001\", expected a number of -1 to 3"},
                                         {"nan", "expected a finite number"},
                                         {"", "expected a number"},
                                         {"?", "expected a number"},
                                         {"two", "expected a number"}}) {
    try {
      (void)read(target);
      ADD_FAILURE() << target;
    } catch (const DataError& error) {
      EXPECT_THAT(error.what(), HasSubstr("row 2, column \"income\"")) << target;
      EXPECT_THAT(error.what(), HasSubstr(expected)) << target;
    }
  }
  spec.decimal = ',';
  EXPECT_EQ(Read(folder, "50,nurse,,\"0,0\"\n", spec).y.at(0), 1 << (kTargetBits - 2));
}

TEST(ReadCsv, FindsColumnsOfAHeaderByName) {
  const TemporaryFolder folder;
  const Table table = Read(folder, "rich,job,note,age\nyes,pilot,\"a,b\",4e1\n", PeopleSpec(true));
  EXPECT_EQ(table.x, Rows({{0, 0, 0, 1}}));
  EXPECT_EQ(table.y, std::vector<int>{1});
}

TEST(ReadCsv, TakesTheLabelFromADeclaredColumnWhichIsNoFeature) {
  const TemporaryFolder folder;
  DataSpec spec = PeopleSpec(false);
  spec.columns.insert(spec.columns.begin(), {"rich", ColumnKind::kNumber, 0, 1, {}});
  const Table table = Read(folder, "no,30,pilot,x\n", spec);
  EXPECT_EQ(table.x, Rows({{-1, 0, 0, 1}}));
  EXPECT_EQ(table.y, std::vector<int>{0});
}

TEST(ReadCsv, IgnoresLabelsWhereverTheyAre) {
  const TemporaryFolder folder;
  const auto ignoring = [&](const std::string& content, const DataSpec& spec) {
    const Table table = ReadCsv(OneFile(folder.Put("people.csv", content)), spec, LabelUse::kIgnored);
    EXPECT_TRUE(table.y.empty());
    return table.x;
  };
  const auto expected = Rows({{1, 0, 1, 0}, {-1, 0, 0, 1}});
  EXPECT_EQ(ignoring("50,nurse,x,perhaps\n30,pilot,x,\n", PeopleSpec(false)), expected);
  EXPECT_EQ(ignoring("50,nurse,x\n30,pilot,x\n", PeopleSpec(false)), expected);
  EXPECT_EQ(ignoring("rich,job,note,age\nperhaps,nurse,,50\n,pilot,,30\n", PeopleSpec(true)), expected);
  EXPECT_EQ(ignoring("job,note,age\nnurse,,50\npilot,,30\n", PeopleSpec(true)), expected);
  EXPECT_EQ(ignoring("job,note,age\n", PeopleSpec(true)).rows(), 0);
  EXPECT_EQ(ignoring("", PeopleSpec(false)).rows(), 0);
  DataSpec declared = PeopleSpec(false);
  declared.columns.insert(declared.columns.begin(), {"rich", ColumnKind::kNumber, 0, 1, {}});
  EXPECT_EQ(ignoring("50,nurse,x\n30,pilot,x\n", declared), expected);

  const auto error = [&](const std::string& content, const DataSpec& spec) {
    return ErrorText<DataError>([&] { (void)ignoring(content, spec); });
  };
  EXPECT_THAT(error("50,nurse,x\n30,pilot,x,no\n", PeopleSpec(false)),
              HasSubstr("found 4 fields, the last \"no\", expected 3"));
  EXPECT_THAT(error("50,nurse,x,no\n30,pilot,x\n", PeopleSpec(false)),
              HasSubstr("found 3 fields, expected 4"));
  EXPECT_THAT(error("50,nurse\n", PeopleSpec(false)), HasSubstr("found 2 fields, expected 4"));
  EXPECT_THAT(error("job,age\n", PeopleSpec(true)), HasSubstr("no column \"note\""));
}

TEST(ReadCsv, TurnsMissingMarksIntoTheMeanAndNoCategory) {
  const TemporaryFolder folder;
  EXPECT_EQ(Read(folder, "?, ?, ?, yes\n", PeopleSpec(false)).x, Rows({{0, 0, 0, 0}}));
  DataSpec spec = PeopleSpec(false);
  spec.missing = {""};
  EXPECT_EQ(Read(folder, ",,,yes\n", spec).x, Rows({{0, 0, 0, 0}}));
  spec.columns[1].values[2] = "";  // a declared category comes first
  EXPECT_EQ(Read(folder, ",,,yes\n", spec).x, Rows({{0, 0, 0, 1}}));
}

TEST(ReadCsv, ReadsNumbersInTheUsualForms) {
  const TemporaryFolder folder;
  const Table table = Read(folder, "+50,?,,no\n-1.5e1,?,,no\n40.,?,,no\n\"41\",?,,no\n", PeopleSpec(false));
  const Eigen::VectorXf expected = Eigen::Vector4f(1.0F, -5.5F, 0.0F, 0.1F);
  EXPECT_EQ(Eigen::VectorXf(table.x.col(0)), expected);
}

TEST(ReadCsv, KeepsTextsInTheOrderOfTheColumns) {
  const TemporaryFolder folder;
  DataSpec spec = PeopleSpec(false);
  spec.columns[2].kind = ColumnKind::kText;
  spec.columns.push_back({"more", ColumnKind::kText, 0, 1, {}});
  const Table table = Read(folder, "50,nurse,\"a, b\",c,yes\n?,?,?,,no\n", spec);
  EXPECT_EQ(table.x, Rows({{1, 0, 1, 0}, {0, 0, 0, 0}}));
  EXPECT_EQ(table.texts, (std::vector<std::vector<std::string>>{{"a, b", "c"}, {"", ""}}));
}

TEST(ReadCsv, ReadsATableOfNothingButTexts) {
  const TemporaryFolder folder;
  DataSpec spec;
  spec.format = Format::kCsv;
  spec.header = false;
  spec.columns = {{"text", ColumnKind::kText, 0, 1, {}}};
  spec.label = {"mood", {"bad", "good"}, {}};
  ValidateSpec(spec);
  const Table table = Read(folder, "fine,good\npoor,bad\n", spec);
  EXPECT_EQ(table.x.rows(), 2);
  EXPECT_EQ(table.x.cols(), 0);
  EXPECT_EQ(table.y, (std::vector<int>{1, 0}));
  EXPECT_EQ(table.texts[1][0], "poor");
}

TEST(ReadCsv, AllowsNoRowsAtAll) {
  const TemporaryFolder folder;
  EXPECT_EQ(Read(folder, "", PeopleSpec(false)).x.rows(), 0);
  EXPECT_EQ(Read(folder, "age,job,note,rich\n", PeopleSpec(true)).x.rows(), 0);
}

struct BadContent {
  std::string name;
  bool header;
  std::string content;
  std::string text;
};

class ReadCsvRefusal : public testing::TestWithParam<BadContent> {};

TEST_P(ReadCsvRefusal, NamesRowAndColumn) {
  const TemporaryFolder folder;
  const auto& [name, header, content, expected] = GetParam();
  const auto text = ErrorText<DataError>(
      [&, header = header, content = content] { Read(folder, content, PeopleSpec(header)); });
  EXPECT_THAT(text, HasSubstr((folder / "people.csv").string() + ": " + expected));
}

INSTANTIATE_TEST_SUITE_P(
    Contents, ReadCsvRefusal,
    testing::Values(
        BadContent{"word_for_number", false, "1,nurse,,no\nold,nurse,,no\n",
                   "row 2, column \"age\": found \"old\", expected a number"},
        BadContent{"number_with_a_tail", false, "12x,nurse,,no\n",
                   "row 1, column \"age\": found \"12x\", expected a number"},
        BadContent{"two_signs", false, "+-1,nurse,,no\n",
                   "row 1, column \"age\": found \"+-1\", expected a number"},
        BadContent{"sign_alone", false, "+,nurse,,no\n",
                   "row 1, column \"age\": found \"+\", expected a number"},
        BadContent{"empty_number", false, ",nurse,,no\n",
                   "row 1, column \"age\": found \"\", expected a number"},
        BadContent{"nan", false, "nan,nurse,,no\n",
                   "row 1, column \"age\": found \"nan\", expected a finite number"},
        BadContent{"infinity", false, "-inf,nurse,,no\n",
                   "row 1, column \"age\": found \"-inf\", expected a finite number"},
        BadContent{"beyond_double", false, "1e999,nurse,,no\n",
                   "row 1, column \"age\": found \"1e999\", expected a finite number"},
        BadContent{"too_large", false, "1e11,nurse,,no\n",
                   "row 1, column \"age\": found \"1e11\", expected at most 1e+09"},
        BadContent{"unknown_category", false, "1,Nurse,,no\n",
                   "row 1, column \"job\": found \"Nurse\", expected one of"},
        BadContent{"unknown_label", false, "1,nurse,,maybe\n",
                   "row 1, column \"rich\": found \"maybe\", expected one of"},
        BadContent{"missing_label", false, "1,nurse,,?\n",
                   "row 1, column \"rich\": found \"?\", expected one of"},
        BadContent{"short_row", false, "1,nurse,,no\n1,nurse,no\n", "row 2: found 3 fields, expected 4"},
        BadContent{"long_row", true, "age,job,note,rich\n1,nurse,,no,\n",
                   "row 2: found 5 fields, the last \"\", expected 4"},
        BadContent{"missing_column", true, "age,job,rich\n", "row 1: found no column \"note\", expected"},
        BadContent{"missing_label_column", true, "age,job,note\n",
                   "row 1: found no column \"rich\", expected"},
        BadContent{"column_twice", true, "age,age,job,note,rich\n", "row 1: found column \"age\" twice"},
        BadContent{"undeclared_column", true, "age,id,job,note,rich\n",
                   "row 1: found undeclared column \"id\", expected only columns of the job (declare it with "
                   "kind = \"ignore\""},
        BadContent{"separator_at_the_end", true, "age,job,note,rich,\n1,nurse,,no,\n",
                   "row 1: found a separator at the end of the lines, expected none"},
        BadContent{"carriage_returns", true, "age,job,note,rich\r1,nurse,,no\r",
                   "row 1: found carriage returns as line ends, expected newlines"},
        BadContent{"no_header", true, "", "row 1: found an empty file, expected a header"}),
    [](const auto& info) { return info.param.name; });

TEST(SplitCsv, CopiesRecordsByteForByte) {
  const TemporaryFolder folder;
  const auto source = folder.Put("a.csv", "h1, h2\r\n1 ,\"x\ny\"\r\n2,b\n3,c");
  const std::array<std::filesystem::path, 3> targets{folder / "0", folder / "1", folder / "2"};

  SplitCsv(OneFile(source), true, {2, -1, 2}, targets);

  EXPECT_EQ(RawBytes(targets[0]), "h1, h2\r\n");
  EXPECT_EQ(RawBytes(targets[2]), "h1, h2\r\n1 ,\"x\ny\"\r\n3,c\n");
  SplitCsv(OneFile(source), false, {0, 1, 1, 0}, targets);
  EXPECT_EQ(RawBytes(targets[0]), "h1, h2\r\n3,c\n");
  EXPECT_EQ(RawBytes(targets[1]), "1 ,\"x\ny\"\r\n2,b\n");
  EXPECT_EQ(RawBytes(targets[2]), "");
  EXPECT_THROW(SplitCsv(OneFile(source), true, {0, 1}, targets), DataError);
}

// A job may say latin-1 of files of which one is UTF-8 by its mark; each party then reads what the source
// says.
TEST(SplitCsv, KeepsTheMarkThatCountsMoreThanTheJobsEncoding) {
  const TemporaryFolder folder;
  const auto source = folder.Put("a.csv", "\xEF\xBB\xBFname;n\n\u00E9;1\n\u00FC;2\n");
  const std::array<std::filesystem::path, 3> targets{folder / "0", folder / "1", folder / "2"};
  const CsvDialect dialect{.separator = ';', .encoding = Encoding::kLatin1};
  SplitCsv(OneFile(source), true, {2, 0}, targets, dialect);
  EXPECT_EQ(RawBytes(targets[0]), "\xEF\xBB\xBFname;n\n\u00FC;2\n");
  CsvReader reader(targets[2], dialect);
  ASSERT_TRUE(reader.Next() && reader.Next());
  EXPECT_EQ(reader.fields(), (std::vector<std::string>{"\u00E9", "1"}));
}

TEST(ReadCsv, ReadsATableAsAnOrganisationHasIt) {
  const TemporaryFolder folder;
  DataSpec spec;
  spec.format = Format::kCsv;
  spec.dialect = {.separator = ';', .encoding = Encoding::kLatin1};
  spec.decimal = ',';
  spec.missing = {"", "k.A."};
  spec.columns = {
      {.name = "Gr\u00F6\u00DFe", .mean = 1.5, .scale = 0.5, .values = {}, .missing_indicator = true},
      {.name = "seit",
       .kind = ColumnKind::kDate,
       .values = {},
       .date_format = "%d.%m.%Y",
       .origin = "2000-01-01"},
      {.name = "Ort",
       .kind = ColumnKind::kCategory,
       .values = {"Z\u00FCrich", "Bern"},
       .aliases = {{"ZH", "Z\u00FCrich"}}},
      {.name = "Alter", .kind = ColumnKind::kBin, .values = {}, .edges = {18}}};
  spec.label = {.column = "ja", .values = {"0", "1"}, .aliases = {}, .numeric = true};
  spec.features = CountFeatures(spec);
  ValidateSpec(spec);
  const auto file = folder.Put("a.csv",
                               "seit;Gr\xF6\xDF"
                               "e;Ort;Alter;ja\n"
                               "03.01.2000;2,0;Z\xFCrich;17,5;1,0\n;k.A.;ZH;;\"00\"\n");
  const Table table = ReadCsv(OneFile(file), spec);
  EXPECT_EQ(table.x, (Matrix(2, 7) << 1, 0, 2, 1, 0, 1, 0, 0, 1, 0, 1, 0, 0, 0).finished());
  EXPECT_EQ(table.y, (std::vector<int>{1, 0}));

  spec.dialect.separator = ',';
  EXPECT_THAT(
      ErrorText<DataError>([&] { (void)ReadCsv(OneFile(file), spec); }),
      HasSubstr("row 1: found one column \"seit;Gr\u00F6\u00DFe;Ort;Alter;ja\", expected columns with \",\" "
                "between them, or data.separator for another separator"));
}

}  // namespace
}  // namespace trefoil::data
