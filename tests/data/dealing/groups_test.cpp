#include "data/dealing/groups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace trefoil::data {
namespace {

TEST(GroupNumbers, CountsFromTheFirstRows) {
  const std::vector<std::int64_t> numbers{0, 1, 0, 2, 1};
  EXPECT_EQ(GroupNumbers(std::vector<std::string>{"b", "a", "b", "c", "a"}, 2, "t.csv"), numbers);
  EXPECT_EQ(GroupNumbers(std::vector<std::int64_t>{7, -1, 7, 0, -1}, 2, "t.csv"), numbers);
  EXPECT_TRUE(GroupNumbers(std::vector<std::string>(), 1, "t.csv").empty());
}

TEST(GroupNumbers, NamesTheRecordAndNotTheKeyOfALargerGroup) {
  try {
    (void)GroupNumbers(std::vector<std::string>{"alice", "bob", "alice", "alice"}, 2, "t.csv");
    FAIL() << "no error";
  } catch (const DataError& error) {
    EXPECT_STREQ(error.what(),
                 "t.csv: record 4: found row 3 of one group, expected at most 2 (privacy.max_group_rows)");
  }
}

}  // namespace
}  // namespace trefoil::data
