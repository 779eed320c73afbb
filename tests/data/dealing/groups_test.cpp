#include "data/dealing/groups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace trefoil::data {
namespace {

TEST(GroupNumbers, CountsFromTheFirstRows) {
  EXPECT_EQ(GroupNumbers({"b", "a", "b", "c", "a"}, 2, "t.csv"), (std::vector<std::int64_t>{0, 1, 0, 2, 1}));
  EXPECT_TRUE(GroupNumbers({}, 1, "t.csv").empty());
}

TEST(GroupNumbers, NamesTheRecordAndNotTheKeyOfALargerGroup) {
  try {
    (void)GroupNumbers({"alice", "bob", "alice", "alice"}, 2, "t.csv");
    FAIL() << "no error";
  } catch (const DataError& error) {
    EXPECT_STREQ(error.what(),
                 "t.csv: record 4: found row 3 of one group, expected at most 2 (privacy.max_group_rows)");
  }
}

}  // namespace
}  // namespace trefoil::data
