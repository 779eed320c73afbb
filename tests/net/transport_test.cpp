#include "net/transport.h"

#include <gtest/gtest.h>

#include <chrono>
#include <set>

#include "base/error.h"
#include "net/local_transport.h"
#include "tests/net/payload.h"

namespace trefoil::net {
namespace {

using std::chrono::milliseconds;
using testing_support::OfSize;

class TransportCounting : public testing::Test {
 protected:
  std::array<std::unique_ptr<Transport>, kParties> party_ = MakeLocalTransports(milliseconds(1000));
};

TEST_F(TransportCounting, AChainOfMessagesIsOneRoundEach) {
  party_[0]->Send(1, OfSize(8));
  (void)party_[1]->Receive(0, 8);
  party_[1]->Send(2, OfSize(8));
  (void)party_[2]->Receive(1, 8);
  party_[2]->Send(0, OfSize(8));
  (void)party_[0]->Receive(2, 8);

  EXPECT_EQ(party_[0]->counters().rounds, 3U);
  EXPECT_EQ(party_[1]->counters().rounds, 1U);
  EXPECT_EQ(party_[2]->counters().rounds, 2U);
}

TEST_F(TransportCounting, MessagesSideBySideAreOneRound) {
  for (int from = 0; from < kParties; ++from) {
    for (int to = 0; to < kParties; ++to) {
      if (from != to) party_[static_cast<std::size_t>(from)]->Send(to, OfSize(4));
    }
  }
  for (int to = 0; to < kParties; ++to) {
    for (int from = 0; from < kParties; ++from) {
      if (from != to) (void)party_[static_cast<std::size_t>(to)]->Receive(from, 4);
    }
  }

  for (const auto& party : party_) {
    EXPECT_EQ(party->counters().rounds, 1U);
    EXPECT_EQ(party->counters().bytes_sent, 8U);
    EXPECT_EQ(party->counters().messages, 2U);
  }
}

TEST_F(TransportCounting, OfflineMessagesWaitBesideTheOthers) {
  party_[0]->Send(1, OfSize(5), Phase::kOffline);
  party_[0]->PostOffline(0, 1, OfSize(6));
  party_[0]->Send(1, OfSize(7));
  EXPECT_EQ(party_[0]->counters().bytes_offline, 5U);
  party_[0]->CountOffline(1, 6);
  EXPECT_EQ(party_[0]->counters().bytes_offline, 11U);
  EXPECT_EQ(party_[0]->counters().bytes_sent_to[1], 18U);
  EXPECT_EQ(party_[1]->Receive(0, 7).size(), 7U);
  EXPECT_EQ(party_[1]->Receive(0, 5, Phase::kOffline).size(), 5U);
  EXPECT_EQ(party_[1]->Receive(0, 6, Phase::kOffline).size(), 6U);
}

TEST_F(TransportCounting, OfflineMessagesAddNoRoundAndAreCountedApart) {
  party_[0]->Send(1, OfSize(100), Phase::kOffline);
  (void)party_[1]->Receive(0, 100, Phase::kOffline);
  party_[1]->Send(0, OfSize(3));
  (void)party_[0]->Receive(1, 3);

  EXPECT_EQ(party_[0]->counters().bytes_sent, 0U);
  EXPECT_EQ(party_[0]->counters().bytes_offline, 100U);
  EXPECT_EQ(party_[0]->counters().bytes_sent_to[1], 100U);
  EXPECT_EQ(party_[0]->counters().rounds, 1U);
  EXPECT_EQ(party_[1]->counters().rounds, 0U);
}

TEST_F(TransportCounting, StartsAnewAfterAReset) {
  party_[0]->Send(1, OfSize(8));
  (void)party_[1]->Receive(0, 8);
  for (const auto& party : party_) party->ResetCounters();

  party_[1]->Send(0, OfSize(2));
  (void)party_[0]->Receive(1, 2);

  EXPECT_EQ(party_[0]->counters().rounds, 1U);
  EXPECT_EQ(party_[1]->counters().bytes_sent, 2U);
}

TEST_F(TransportCounting, RefusesAPeerThatIsNone) {
  EXPECT_THROW(party_[0]->Send(0, {}), ContractError);
  EXPECT_THROW(party_[0]->Send(3, {}), ContractError);
  EXPECT_THROW((void)party_[0]->Receive(-1, 1), ContractError);
}

TEST_F(TransportCounting, AbsorbsABranch) {
  party_[0]->Send(1, OfSize(8));
  party_[0]->Absorb(
      {.rounds = 3, .bytes_sent = 10, .bytes_offline = 20, .bytes_sent_to = {0, 5, 25}, .messages = 4});
  party_[0]->Absorb({});

  EXPECT_EQ(party_[0]->counters().rounds, 3U);
  EXPECT_EQ(party_[0]->counters().bytes_sent, 18U);
  EXPECT_EQ(party_[0]->counters().bytes_offline, 20U);
  EXPECT_EQ(party_[0]->counters().bytes_sent_to, (std::array<std::uint64_t, 3>{0, 13, 25}));
  EXPECT_EQ(party_[0]->counters().messages, 5U);
}

TEST(LaneOfBranch, GivesEveryBranchItsOwnDownToThreeDeep) {
  std::set<Lane> lanes{0};
  for (Lane parent = 0; parent < kLanes / 2; ++parent) {
    for (const int branch : {0, 1}) EXPECT_TRUE(lanes.insert(LaneOfBranch(parent, branch)).second);
  }
  EXPECT_EQ(lanes.size(), kLanes);
  EXPECT_EQ(*lanes.rbegin(), kLanes - 1);
  EXPECT_THROW((void)LaneOfBranch(kLanes / 2, 0), ContractError);
  EXPECT_THROW((void)LaneOfBranch(0, 2), ContractError);
}

TEST(DescribeAbort, HasATextForEveryCodeAndForNone) {
  std::set<std::string> texts;
  for (int code = 1; code <= static_cast<int>(AbortCode::kRankLost); ++code)
    EXPECT_TRUE(texts.insert(Describe(static_cast<AbortCode>(code))).second) << code;
  EXPECT_FALSE(texts.contains("aborted: unknown reason"));
  EXPECT_STREQ(Describe(AbortCode::kData), "aborted: its data is not what the job declares");
  EXPECT_STREQ(Describe(AbortCode::kStorage), "aborted: it cannot write its files");
  EXPECT_STREQ(Describe(static_cast<AbortCode>(99)), "aborted: unknown reason");
}

}  // namespace
}  // namespace trefoil::net
