#include "data/columns/date_format.h"

#include <gtest/gtest.h>

namespace trefoil::data {
namespace {

TEST(DaysOf, CountsDaysOfTheCalendar) {
  EXPECT_EQ(DaysOf("1970-01-01", "%Y-%m-%d"), 0);
  EXPECT_EQ(DaysOf("1969-12-31", "%Y-%m-%d"), -1);
  EXPECT_EQ(DaysOf("2000-02-29", "%Y-%m-%d"), 11016);  // Python: date(2000, 2, 29).toordinal() - 719163
  EXPECT_EQ(DaysOf("9999-12-31", "%Y-%m-%d"), 2932896);
  EXPECT_EQ(DaysOf("0001-01-01", "%Y-%m-%d"), -719162);
}

TEST(DaysOf, ReadsDatesAsTheyAreWritten) {
  EXPECT_EQ(DaysOf("3.2.2024", "%d.%m.%Y"), DaysOf("2024-02-03", "%Y-%m-%d"));
  EXPECT_EQ(DaysOf("20240203", "%Y%m%d"), DaysOf("2024-02-03", "%Y-%m-%d"));
  EXPECT_EQ(DaysOf("on 2/3/2024", "on %m/%d/%Y"), DaysOf("2024-02-03", "%Y-%m-%d"));
  EXPECT_EQ(DaysOf("1970-01-02T18:00:00", "%Y-%m-%dT%H:%M:%S"), 1.75);
  EXPECT_EQ(DaysOf("1970-01-02 0:00", "%Y-%m-%d %H:%M"), 1);
}

TEST(DaysOf, RefusesWhatIsNoSuchDate) {
  for (const auto* text :
       {"", "2024", "2024-02-30", "2023-02-29", "2024-13-01", "2024-00-01", "2024-1-", "24-01-01",
        "2024-01-01 ", " 2024-01-01", "2024/01/01", "2024-01-011", "-024-01-01", "2024-+1-01"})
    EXPECT_FALSE(DaysOf(text, "%Y-%m-%d")) << text;
  EXPECT_FALSE(DaysOf("2024111", "%Y%m%d")) << "January the 11th, or November the 1st";
  for (const auto* text : {"24:00", "12:60", "12", "12:5:"})
    EXPECT_FALSE(DaysOf(std::string("2024-01-01 ") + text, "%Y-%m-%d %H:%M")) << text;
}

TEST(IsDateFormat, WantsYearMonthAndDayOnceEach) {
  EXPECT_TRUE(IsDateFormat("%d.%m.%Y"));
  EXPECT_TRUE(IsDateFormat("%Y%m%d%H%M%S"));
  for (const auto* format :
       {"", "%Y-%m", "%Y-%m-%d-%d", "%d.%m.%y", "%Y-%m-%d %", "%Y-%m-%d %%", "%Y-%m-%d %H%H"}) {
    EXPECT_FALSE(IsDateFormat(format)) << format;
    EXPECT_FALSE(DaysOf("2024-01-01", format)) << format;
  }
}

}  // namespace
}  // namespace trefoil::data
