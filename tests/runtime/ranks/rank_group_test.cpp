#include "runtime/ranks/rank_group.h"

#include <gtest/gtest.h>

namespace trefoil::runtime {
namespace {

// By exit codes: 3 is a loss of the network.
TEST(CauseAmong, IsTheFirstUnlessItFollowsFromTheOther) {
  const RankFailure stopped{.rank = 0, .code = 143};
  const RankFailure lost{.rank = 1, .code = 3};
  const RankFailure lost_here{.rank = 0, .code = 3};
  const RankFailure bad_data{.rank = 1, .code = 4};
  EXPECT_EQ(CauseAmong(stopped, {}).rank, 0);
  EXPECT_EQ(CauseAmong(stopped, lost).rank, 0);  // the peers ended, since rank 0 told them of the signal
  EXPECT_EQ(CauseAmong(lost_here, lost).rank, 1);
  EXPECT_EQ(CauseAmong(lost_here, bad_data).rank, 1);
  EXPECT_EQ(CauseAmong(stopped, bad_data).rank, 1);
}

}  // namespace
}  // namespace trefoil::runtime
