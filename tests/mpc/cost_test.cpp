#include "mpc/cost.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace trefoil::mpc {
namespace {

using OfParties = std::array<std::uint64_t, 3>;

TEST(Cost, OfNothingIsNothing) {
  EXPECT_EQ(Cost().rounds(), 0);
  EXPECT_EQ(Cost().bytes_of_all(), 0U);
}

TEST(Cost, OfARoundCountsEachSendersBytes) {
  const Cost cost = Cost::Round({{0, 1, 10}, {0, 2, 5}, {2, 0, 3}});
  EXPECT_EQ(cost.rounds(), 1);
  EXPECT_EQ(cost.bytes_sent(), (OfParties{15, 0, 3}));
  EXPECT_EQ(cost.bytes_offline(), OfParties{});
}

TEST(Cost, OfflineAddsNoRound) {
  const Cost cost = Then(Cost::Offline({{2, 1, 7}}), Cost::EachToNext(1));
  EXPECT_EQ(cost.rounds(), 1);
  EXPECT_EQ(cost.bytes_sent(), (OfParties{1, 1, 1}));
  EXPECT_EQ(cost.bytes_offline(), (OfParties{0, 0, 7}));
  EXPECT_EQ(cost.bytes_of_all(), 10U);
}

TEST(Cost, KnowsTheLargestMessageThatIsSentOffline) {
  const Cost small = Cost::Offline({{2, 1, 7}, {2, 0, 3}}).WithTurn();
  const Cost large = Cost::Offline({{2, 1, 9}}).WithTurn();
  EXPECT_EQ(Cost::Round({{0, 1, 100}}).largest_offline(), 0U);
  EXPECT_EQ(small.largest_offline(), 7U);
  EXPECT_EQ(Then(small, large).largest_offline(), 9U);
  EXPECT_EQ(Then(large, small).largest_offline(), 9U);
  EXPECT_EQ(Parallel(small, large).largest_offline(), 16U) << "both are there at once";
}

// Depth follows chains of messages, not the number of operations.
TEST(Then, AddsRoundsOnlyWhereAMessageWaitsForAnother) {
  const Cost to_next = Cost::Round({{0, 1, 1}});
  EXPECT_EQ(Then(to_next, Cost::Round({{1, 2, 1}})).rounds(), 2);  // 0 -> 1 -> 2
  EXPECT_EQ(Then(to_next, Cost::Round({{0, 2, 1}})).rounds(), 1);  // 0 need not wait
  EXPECT_EQ(Then(to_next, Cost::Round({{2, 0, 1}})).rounds(), 1);  // neither does 2
  EXPECT_EQ(Then(to_next, to_next).rounds(), 1);                   // nor 0 a second time
  EXPECT_EQ(Then(Cost::EachToNext(1), Cost::EachToNext(1)).rounds(), 2);
  EXPECT_EQ(Then(Cost::EachToNext(1), Cost::EachToPrevious(1)).rounds(), 2);
}

TEST(Then, TakesTheLongestOfSeveralChains) {
  // 0 -> 1 -> 2 -> 0 in three steps, beside 2 -> 1 in the first.
  const Cost first = Cost::Round({{0, 1, 1}, {2, 1, 1}});
  const Cost chain = Then(Then(first, Cost::Round({{1, 2, 1}})), Cost::Round({{2, 0, 1}}));
  EXPECT_EQ(chain.rounds(), 3);
  EXPECT_EQ(chain.bytes_sent(), (OfParties{1, 1, 2}));
}

TEST(Then, RotatesByTheTurnsTakenBefore) {
  const Cost use = Then(Cost::Offline({{2, 1, 100}}), Cost::Round({{0, 1, 10}})).WithTurn();
  const Cost two = Then(use, use);
  EXPECT_EQ(two.bytes_sent(), (OfParties{10, 10, 0}));
  EXPECT_EQ(two.bytes_offline(), (OfParties{100, 0, 100}));
  EXPECT_EQ(two.rounds(), 2);  // 0 -> 1, then 1 -> 2
  const Cost three = Then(two, use);
  EXPECT_EQ(three.bytes_sent(), (OfParties{10, 10, 10}));
  EXPECT_EQ(three.rounds(), 3);
  EXPECT_EQ(Then(three, use).bytes_sent(), (OfParties{20, 10, 10}));
}

TEST(Then, RotatesTheDepthToo) {
  // The second use sends from role 2 to role 0: after one turn from P0 to P1, which does not wait for the
  // first.
  const Cost first = Cost::Round({{0, 1, 1}}).WithTurn();
  EXPECT_EQ(Then(first, Cost::Round({{2, 0, 1}})).rounds(), 1);
  EXPECT_EQ(Then(first, Cost::Round({{0, 1, 1}})).rounds(), 2);
}

TEST(ThenUnturned, LeavesTheSecondsPartiesAsTheyAre) {
  const Cost first = Cost::Round({{0, 1, 1}}).WithTurn();
  const Cost input = Cost::Round({{2, 0, 100}});
  const Cost sum = ThenUnturned(first, input);
  EXPECT_EQ(sum.bytes_sent(), (OfParties{1, 0, 100}));
  EXPECT_EQ(sum.rounds(), 1);
  EXPECT_EQ(ThenUnturned(first, Cost::Round({{1, 0, 1}})).rounds(), 2);
  // the turn before counts for what follows
  EXPECT_EQ(Then(sum, first).bytes_sent(), (OfParties{1, 1, 100}));
  EXPECT_THROW((void)ThenUnturned(first, first), ContractError);
}

TEST(Then, IsAssociative) {
  const Cost a = Cost::Round({{0, 1, 1}, {1, 0, 2}}).WithTurn();
  const Cost b = Then(Cost::Offline({{2, 1, 4}}), Cost::EachToPrevious(8));
  const Cost c = Cost::Round({{0, 2, 16}}).WithTurn();
  const Cost left = Then(Then(a, b), c);
  const Cost right = Then(a, Then(b, c));
  EXPECT_EQ(left.rounds(), right.rounds());
  EXPECT_EQ(left.bytes_sent(), right.bytes_sent());
  EXPECT_EQ(left.bytes_offline(), right.bytes_offline());
  EXPECT_EQ(Then(left, a).bytes_sent(), Then(right, a).bytes_sent());
}

TEST(InOneRound, AddsBytesOnly) {
  const Cost both = InOneRound(Cost::Round({{0, 1, 1}}), Cost::Round({{1, 2, 2}}));
  EXPECT_EQ(both.rounds(), 1);
  EXPECT_EQ(both.bytes_sent(), (OfParties{1, 2, 0}));
  EXPECT_EQ(InOneRound(Cost::Offline({{2, 0, 5}}), Cost::Offline({{2, 1, 6}})).bytes_offline(),
            (OfParties{0, 0, 11}));
}

TEST(InOneRound, RefusesTurnsAndMoreThanOneRound) {
  const Cost one = Cost::EachToNext(1);
  EXPECT_THROW((void)InOneRound(one, one.WithTurn()), ContractError);
  EXPECT_THROW((void)InOneRound(Then(one, one), one), ContractError);
}

TEST(Parallel, TakesTheLongerBranchsRoundsAndBothBytes) {
  const Cost one = Cost::EachToNext(3);
  const Cost three = Then(Then(one, one), one);
  EXPECT_EQ(Parallel(one, three).rounds(), 3);
  EXPECT_EQ(Parallel(three, one).rounds(), 3);
  EXPECT_EQ(Parallel(three, one).bytes_sent(), (OfParties{12, 12, 12}));
  EXPECT_EQ(Then(one, Parallel(three, one)).rounds(), 4);
}

TEST(Parallel, TurnsTheSecondBranchByOneAndWhatFollowsByTwo) {
  const Cost use = Then(Cost::Offline({{2, 1, 100}}), Cost::Round({{0, 1, 10}})).WithTurn();
  EXPECT_EQ(Parallel(use, use).bytes_sent(), (OfParties{10, 10, 0}));
  EXPECT_EQ(Parallel(use, use).bytes_offline(), (OfParties{100, 0, 100}));
  EXPECT_EQ(Then(Parallel(use, Then(use, use)), use).bytes_sent(), (OfParties{10, 10, 20}));
}

}  // namespace
}  // namespace trefoil::mpc
