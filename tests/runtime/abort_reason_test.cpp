#include "runtime/abort_reason.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "runtime/ranks/rank_group.h"
#include "tests/net/mesh_testing.h"

namespace trefoil::runtime {
namespace {

using net::testing_support::TestMesh;

TEST(ReasonFor, SaysWhoBrokeTheProtocol) {
  const auto reason = ReasonFor(ProtocolError("party 2 sent a message of 4 bytes, expected 3", 2));
  EXPECT_EQ(reason.code, net::AbortCode::kProtocol);
  EXPECT_EQ(reason.about, 2);
  EXPECT_EQ(ReasonFor(NetworkError(1, "gone")).code, net::AbortCode::kPeerLost);
  EXPECT_EQ(ReasonFor(RanksEnded(1, "rank 2 of this party has failed")).code, net::AbortCode::kRankLost);
}

TEST(WouldBeRefusedAgain, AsksTheErrorAndNotItsText) {
  const std::string words = net::Describe(net::AbortCode::kData);
  EXPECT_TRUE(WouldBeRefusedAgain(DataError("row 3: found \"x\", expected a number")));
  EXPECT_TRUE(WouldBeRefusedAgain(BudgetError("party 1: " + words)));
  EXPECT_TRUE(WouldBeRefusedAgain(net::AbortedError(1, net::AbortCode::kData)));
  EXPECT_FALSE(WouldBeRefusedAgain(net::AbortedError(1, net::AbortCode::kStopped)));
  EXPECT_FALSE(WouldBeRefusedAgain(NetworkError(1, words)));
  EXPECT_FALSE(WouldBeRefusedAgain(NetworkError(1, "lost (reported by party 2)")));
}

// Party 1 finds a message of a wrong length, of which its links know nothing: the third names who sent it.
TEST(TellingPeers, NamesWhoBrokeTheProtocolAndNotWhoFoundIt) {
  TestMesh mesh;
  const auto outcomes =
      net::testing_support::RunParties(mesh, {0, 1, 2}, [](int self, net::MeshTransport& transport) {
        TellingPeers(transport, [&] {
          if (self == 0) transport.Send(1, net::Bytes(4));
          (void)transport.Receive(self == 1 ? 0 : 1, 3);
        });
      });
  EXPECT_EQ(outcomes[1].text, "party 0 sent a message of 4 bytes, expected 3");
  EXPECT_EQ(outcomes[0].text.find("party 0: broke the protocol, as party 1 found"), 0U) << outcomes[0].text;
  EXPECT_EQ(outcomes[2].peer, 0) << outcomes[2].text;
  EXPECT_EQ(outcomes[2].text.find("party 0: broke the protocol"), 0U) << outcomes[2].text;
}

TEST(TellingPeers, SaysThatDataIsWrongAndRethrows) {
  TestMesh mesh;
  const auto outcomes =
      net::testing_support::RunParties(mesh, {0, 1, 2}, [](int self, net::MeshTransport& transport) {
        TellingPeers(transport, [&] {
          if (self == 1) throw DataError("no such row");
          try {
            (void)transport.Receive(1, 3);
          } catch (const std::exception& error) {
            EXPECT_TRUE(WouldBeRefusedAgain(error));
            throw;
          }
        });
      });
  EXPECT_EQ(outcomes[1].text, "no such row");
  for (const int other : {0, 2}) {
    const auto& text = outcomes.at(static_cast<std::size_t>(other)).text;
    EXPECT_EQ(text, "party 1: aborted: its data is not what the job declares");
  }
}

TEST(TellingPeers, ReturnsWhatTheBodyReturns) {
  TestMesh mesh;
  const auto outcomes =
      net::testing_support::RunParties(mesh, {0, 1, 2}, [](int self, net::MeshTransport& transport) {
        EXPECT_EQ(TellingPeers(transport, [&] { return self + 1; }), self + 1);
        for (int peer = 0; peer < net::kParties; ++peer) {
          if (peer != self) transport.Send(peer, net::Bytes(1));
        }
        for (int peer = 0; peer < net::kParties; ++peer) {
          if (peer != self) (void)transport.Receive(peer, 1);  // the links stand still
        }
      });
  for (const auto& outcome : outcomes) EXPECT_EQ(outcome.text, "");
}

}  // namespace
}  // namespace trefoil::runtime
