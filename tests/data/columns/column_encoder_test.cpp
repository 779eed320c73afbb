#include "data/columns/column_encoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trefoil::data {
namespace {

using testing::ElementsAre;

TEST(CanonicalNumber, IsTheSameForTextsOfOneNumberOnly) {
  const auto one = CanonicalNumber("1", '.');
  for (const auto* text : {"01", "1.0", "+1", "1.", "10e-1", "0.1E+1", "1e0", "001.000"})
    EXPECT_EQ(CanonicalNumber(text, '.'), one) << text;
  for (const auto* text : {"-1", "10", "0.1", "1e1", "1.00000000000000000001", "0"})
    EXPECT_NE(CanonicalNumber(text, '.'), one) << text;
  EXPECT_EQ(CanonicalNumber("1,50", ','), CanonicalNumber("1.5", '.'));
  EXPECT_EQ(CanonicalNumber("-0.0", '.'), CanonicalNumber("000", '.'));
  EXPECT_EQ(CanonicalNumber("120", '.'), CanonicalNumber("1.2e2", '.'));
  EXPECT_NE(CanonicalNumber("9007199254740993", '.'), CanonicalNumber("9007199254740992", '.'));
}

TEST(CanonicalNumber, KnowsWhatIsNoNumber) {
  for (const auto* text : {"", "+", "-", ".", "e1", "1e", "1e+", "1e+-1", "+-1", "1 ", " 1", "1.5.1", "1,5",
                           "nan", "inf", "0x1", "1e9999999999", "1_000"})
    EXPECT_FALSE(CanonicalNumber(text, '.')) << text;
  EXPECT_FALSE(CanonicalNumber("1.5", ','));
}

/// One column of a spec, and what it makes of fields.
class EncoderTest : public testing::Test {
 protected:
  std::vector<float> Features(const std::string& field) {
    spec_.columns = {column_};
    EXPECT_FALSE(FlawOf(column_));
    std::vector<float> features(static_cast<std::size_t>(WidthOf(column_)));
    const auto expected = ColumnEncoder(column_, spec_).Encode(field, features.data());
    EXPECT_FALSE(expected) << field << ": " << expected.value_or("");
    return features;
  }
  std::string Expected(const std::string& field) {
    std::vector<float> features(static_cast<std::size_t>(WidthOf(column_)));
    return ColumnEncoder(column_, spec_).Encode(field, features.data()).value_or("");
  }

  DataSpec spec_;
  Column column_{.name = "c", .values = {}};
};

TEST_F(EncoderTest, ReadsDecimalCommas) {
  spec_.decimal = ',';
  EXPECT_THAT(Features("-1,5"), ElementsAre(-1.5F));
  EXPECT_THAT(Features("7"), ElementsAre(7.0F));
  EXPECT_EQ(Expected("1.5"), "a number with a decimal comma and no points");
  EXPECT_EQ(Expected("1.234,5"), "a number with a decimal comma and no points");
  EXPECT_EQ(Expected("1,2,3"), "a number with a decimal comma and no points");
  spec_.decimal = '.';
  EXPECT_EQ(Expected("1,5"), "a number (with decimal commas: data.decimal = \",\")");
  EXPECT_EQ(Expected("1,2,3"), "a number");
}

TEST_F(EncoderTest, KnowsAColumnsOwnMarksHoweverTheirNumberIsWritten) {
  column_.mean = 2;
  column_.missing = {"", "-9", "NA"};
  for (const auto* mark : {"", "-9", "-9.0", "-09", "NA"})
    EXPECT_THAT(Features(mark), ElementsAre(0.0F)) << mark;
  EXPECT_EQ(Expected("?"), "a number") << "the file's marks are not this column's";
  column_.missing.reset();
  EXPECT_THAT(Features("?"), ElementsAre(0.0F));
  spec_.missing = {"-9"};
  EXPECT_THAT(Features("-9.0"), ElementsAre(-11.0F)) << "marks of the file are texts";
}

TEST_F(EncoderTest, FillsInAndSaysWhatIsMissing) {
  column_.mean = 2;
  column_.scale = 4;
  column_.fill = "10";
  column_.missing_indicator = true;
  EXPECT_THAT(Features("?"), ElementsAre(2.0F, 1.0F));
  EXPECT_THAT(Features("6"), ElementsAre(1.0F, 0.0F));
  spec_.decimal = ',';
  column_.fill = "2.5";  // the job's numbers have a point
  EXPECT_THAT(Features("?"), ElementsAre(0.125F, 1.0F));
  column_.fill.reset();
  EXPECT_THAT(Features("?"), ElementsAre(0.0F, 1.0F));
}

TEST_F(EncoderTest, TakesUnknownCategoriesForMissingWhereTheColumnSaysSo) {
  column_.kind = ColumnKind::kCategory;
  column_.values = {"1", "2"};
  column_.numeric = true;
  EXPECT_NE(Expected("3"), "");
  column_.unknown = UnknownValue::kMissing;
  EXPECT_THAT(Features("3"), ElementsAre(0, 0));
  EXPECT_THAT(Features("red"), ElementsAre(0, 0));
  EXPECT_THAT(Features("2.0"), ElementsAre(0, 1));
  column_.missing_indicator = true;
  column_.fill = "1";
  EXPECT_THAT(Features("3"), ElementsAre(1, 0, 1));
  EXPECT_THAT(Features("2"), ElementsAre(0, 1, 0));
}

TEST_F(EncoderTest, ReadsAliasesOfCategories) {
  column_.kind = ColumnKind::kCategory;
  column_.values = {"Female", "Male"};
  column_.aliases = {{"F", "Female"}, {"w", "Female"}, {"M", "Male"}};
  column_.missing_indicator = true;
  EXPECT_THAT(Features("w"), ElementsAre(1, 0, 0));
  EXPECT_THAT(Features("Male"), ElementsAre(0, 1, 0));
  EXPECT_THAT(Features("?"), ElementsAre(0, 0, 1));
  column_.fill = "M";
  EXPECT_THAT(Features("?"), ElementsAre(0, 1, 1));
  EXPECT_EQ(Expected("f"), "one of the column's declared values or the missing mark \"?\"");
  column_.missing = {"", "NA"};
  EXPECT_EQ(Expected("f"), "one of the column's declared values or a missing mark: \"\", \"NA\"");
}

TEST_F(EncoderTest, TakesEqualNumbersForOneCategory) {
  column_.kind = ColumnKind::kCategory;
  column_.values = {"1", "2.50", "-1"};
  column_.aliases = {{"three", "-1"}, {"3", "-1"}};
  column_.missing = {"9", "none"};
  EXPECT_EQ(Expected("1.0").substr(0, 29), "one of the column's declared ")
      << "texts, as long as it is not numeric";
  column_.numeric = true;
  for (const auto* text : {"1", "1.0", "01", "+1"}) EXPECT_THAT(Features(text), ElementsAre(1, 0, 0)) << text;
  EXPECT_THAT(Features("2.5"), ElementsAre(0, 1, 0));
  for (const auto* text : {"three", "3.0", "-1"}) EXPECT_THAT(Features(text), ElementsAre(0, 0, 1)) << text;
  for (const auto* text : {"9.0", "none"}) EXPECT_THAT(Features(text), ElementsAre(0, 0, 0)) << text;
  EXPECT_NE(Expected("1,0"), "");
  spec_.decimal = ',';
  EXPECT_THAT(Features("2,5"), ElementsAre(0, 1, 0));
  EXPECT_NE(Expected("2.50"), "") << "a point that groups thousands is no decimal point";
}

TEST_F(EncoderTest, MarksAndAliasesHaveAPointInAFileWithDecimalCommas) {
  const auto flaw = [&] {
    const auto found = FlawOf(column_, ',');
    return found ? std::string(found->key) + ": " + found->found + ", " + found->expected : "";
  };
  spec_.decimal = ',';
  column_.missing = {"NA", "999.9", "1,2,3"};
  EXPECT_EQ(flaw(), "");
  for (const auto* mark : {"999,9", "999,90"}) EXPECT_THAT(Features(mark), ElementsAre(0.0F)) << mark;
  column_.missing = {"NA", "999,9"};
  EXPECT_EQ(flaw(), "missing: \"999,9\", \"999.9\": the job's own numbers have a point");
  EXPECT_FALSE(FlawOf(column_)) << "a text in other files";
  column_ = {.name = "x", .kind = ColumnKind::kCategory, .values = {"1", "2"}};
  column_.aliases = {{"1,5", "2"}};
  column_.missing = {"9,5"};
  EXPECT_EQ(flaw(), "") << "texts";
  column_.numeric = true;
  EXPECT_EQ(flaw(), "aliases: \"1,5\", \"1.5\": the job's own numbers have a point");
  EXPECT_TRUE(FlawOf(Label{"x", {"1", "2"}, {{"1,5", "2"}}, 0, true}, ','));
}

TEST_F(EncoderTest, MakesDaysOfDates) {
  column_.kind = ColumnKind::kDate;
  column_.date_format = "%d.%m.%Y";
  column_.origin = "2000-01-01";
  column_.mean = 10;
  column_.scale = 2;
  EXPECT_THAT(Features("21.1.2000"), ElementsAre(5.0F));
  EXPECT_THAT(Features("?"), ElementsAre(0.0F));
  column_.fill = "01.01.2000";
  EXPECT_THAT(Features("?"), ElementsAre(-5.0F));
  EXPECT_EQ(Expected("2000-01-21"), "a date as \"%d.%m.%Y\"");
  EXPECT_EQ(Expected("31.02.2000"), "a date as \"%d.%m.%Y\"");
}

TEST_F(EncoderTest, PutsNumbersIntoBins) {
  column_.kind = ColumnKind::kBin;
  column_.edges = {-1, 2.5};
  column_.missing_indicator = true;
  EXPECT_THAT(Features("-1.01"), ElementsAre(1, 0, 0, 0));
  EXPECT_THAT(Features("-1"), ElementsAre(0, 1, 0, 0));
  EXPECT_THAT(Features("2.49"), ElementsAre(0, 1, 0, 0));
  EXPECT_THAT(Features("1e300"), ElementsAre(0, 0, 1, 0));
  EXPECT_THAT(Features("?"), ElementsAre(0, 0, 0, 1));
  column_.fill = "0";
  EXPECT_THAT(Features("?"), ElementsAre(0, 1, 0, 1));
  EXPECT_EQ(Expected("nan"), "a finite number");
  EXPECT_EQ(Expected("inf"), "a finite number");
  EXPECT_EQ(Expected("young"), "a number");
}

TEST_F(EncoderTest, MovesNumbersIntoTheirRangeBeforeAllElse) {
  column_.mean = 10;
  column_.scale = 2;
  column_.high = 20;
  EXPECT_THAT(Features("1e300"), ElementsAre(5.0F));
  EXPECT_THAT(Features("-90"), ElementsAre(-50.0F));
  column_.low = -10;
  column_.fill = "-90";
  for (const auto* field : {"-90", "-10", "?"}) EXPECT_THAT(Features(field), ElementsAre(-10.0F)) << field;
  EXPECT_THAT(Features("15"), ElementsAre(2.5F));
  column_.high = -10;
  EXPECT_STREQ(FlawOf(column_).value().key, "high");
}

}  // namespace
}  // namespace trefoil::data
