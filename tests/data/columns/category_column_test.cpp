#include "data/columns/category_column.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "data/formats/file.h"
#include "tests/data/temporary_folder.h"

namespace trefoil::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class ReadCategoriesTest : public testing::Test {
 protected:
  [[nodiscard]] DataFiles Write(const std::string& text) const {
    WriteFile(folder_ / "t.csv", text);
    return OneFile(folder_ / "t.csv");
  }

  [[nodiscard]] std::string Error(const std::string& text) const {
    try {
      (void)ReadCategories(Write(text), column_);
    } catch (const DataError& error) {
      return error.what();
    }
    return "";
  }

  TemporaryFolder folder_;
  CategoryColumn column_{.header = true, .columns = {}, .column = "b", .values = {"x", "y"}};
};

TEST_F(ReadCategoriesTest, FindsTheColumnByItsHeaderAndCountsOthersAsNone) {
  EXPECT_THAT(ReadCategories(Write("a,b\n1,y\n2,?\n3, x\n4,\n5,Y\n"), column_),
              ElementsAre(1U, std::nullopt, 0U, std::nullopt, std::nullopt));
  EXPECT_TRUE(ReadCategories(Write("a,b\n"), column_).empty());
}

TEST_F(ReadCategoriesTest, TakesNamesFromTheJobWithoutAHeader) {
  column_.header = false;
  column_.columns = {"a", "b"};
  EXPECT_THAT(ReadCategories(Write("1,y\n2,x\n"), column_), ElementsAre(1U, 0U));
}

TEST_F(ReadCategoriesTest, NamesThePlaceOfAnErrorAndNoValue) {
  EXPECT_THAT(Error("a,c\n1,x\n"), HasSubstr("row 1: found 0 columns \"b\", expected one of that name"));
  EXPECT_THAT(Error("b,b\n1,x\n"), HasSubstr("found 2 columns \"b\""));
  EXPECT_THAT(Error("a,b\n1,x\n2,secret,3\n"), HasSubstr("row 3: found 3 fields, expected 2"));
  EXPECT_THAT(Error("a,b\n1,x\n2,secret,3\n"), Not(HasSubstr("secret")));
  EXPECT_THAT(Error(""), HasSubstr("row 1: found nothing, expected a header"));
}

}  // namespace
}  // namespace trefoil::data
