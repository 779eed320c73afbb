#include "net/mesh/lane_transport.h"

#include <gtest/gtest.h>

#include <chrono>

#include "base/error.h"
#include "net/local_transport.h"
#include "tests/net/mesh_testing.h"
#include "tests/net/payload.h"

namespace trefoil::net {
namespace {

using testing_support::OfSize;

TEST(LaneTransport, KeepsMessagesOfItsLaneInOrderAndApartFromOthers) {
  const auto party = MakeLocalTransports(std::chrono::seconds(10));
  LaneTransport sending_first(*party[0], 0);
  LaneTransport sending_second(*party[0], 1);
  LaneTransport receiving_first(*party[2], 0);
  LaneTransport receiving_second(*party[2], 1);
  sending_second.Send(2, OfSize(3));
  party[0]->Send(2, OfSize(1));
  sending_first.Send(2, OfSize(2));
  sending_second.Send(2, OfSize(4));

  EXPECT_EQ(party[2]->Receive(0, 1).size(), 1U);
  EXPECT_EQ(receiving_first.Receive(0, 2).size(), 2U);
  EXPECT_EQ(receiving_second.Receive(0, 3).size(), 3U);
  EXPECT_EQ(receiving_second.Receive(0, 4).size(), 4U);
}

TEST(LaneTransport, DoesSoOverTls) {
  testing_support::TestMesh mesh;
  const auto outcomes = testing_support::RunParties(mesh, {0, 1, 2}, [](int self, MeshTransport& party) {
    LaneTransport first(party, 0);
    LaneTransport second(party, 1);
    const int peer = (self + 1) % kParties;
    const int other = (self + 2) % kParties;
    second.Send(peer, OfSize(3));
    party.Send(peer, OfSize(1));
    first.Send(peer, OfSize(2));
    EXPECT_EQ(first.Receive(other, 2).size(), 2U);
    EXPECT_EQ(second.Receive(other, 3).size(), 3U);
    EXPECT_EQ(party.Receive(other, 1).size(), 1U);
  });
  for (const auto& outcome : outcomes) {
    EXPECT_EQ(outcome.kind, testing_support::Outcome::Kind::kDone) << outcome.text;
  }
}

TEST(LaneTransport, InterruptEndsItOverTls) {
  testing_support::TestMesh mesh;
  const auto outcomes = testing_support::RunParties(mesh, {0, 1, 2}, [](int self, MeshTransport& party) {
    if (self != 0) return (void)party.Receive(0, 1);
    LaneTransport branch(party, 0);
    party.Interrupt();
    (void)branch.Receive(1, 1);
  });
  EXPECT_EQ(outcomes[0].kind, testing_support::Outcome::Kind::kNetwork);
  EXPECT_NE(outcomes[0].text.find("interrupted by this party"), std::string::npos) << outcomes[0].text;
}

TEST(LaneTransport, CountsFromItsParentsDepthOn) {
  const auto party = MakeLocalTransports(std::chrono::seconds(10));
  party[0]->Send(1, OfSize(8));
  (void)party[1]->Receive(0, 8);
  LaneTransport branch(*party[1], 0);
  branch.Send(2, OfSize(5));

  EXPECT_EQ(branch.counters().rounds, 1U);
  EXPECT_EQ(branch.counters().bytes_sent, 5U);
  EXPECT_EQ(party[1]->counters().bytes_sent, 0U);
  (void)LaneTransport(*party[2], 0).Receive(1, 5);
}

TEST(LaneTransport, NestsThreeDeep) {
  const auto party = MakeLocalTransports(std::chrono::seconds(10));
  LaneTransport one(*party[0], 1);
  LaneTransport two(one, 0);
  LaneTransport three(two, 1);
  LaneTransport peer_one(*party[1], 1);
  LaneTransport peer_two(peer_one, 0);
  LaneTransport peer_three(peer_two, 1);
  two.Send(1, OfSize(2));
  three.Send(1, OfSize(3));

  EXPECT_EQ(peer_three.Receive(0, 3).size(), 3U);
  EXPECT_EQ(peer_two.Receive(0, 2).size(), 2U);
  EXPECT_THROW(LaneTransport(three, 0), ContractError);
}

TEST(LaneTransport, PassesAnAbortOn) {
  const auto party = MakeLocalTransports(std::chrono::seconds(10));
  LaneTransport branch(*party[0], 0);
  branch.Abort({.code = AbortCode::kData});

  EXPECT_THROW((void)party[1]->Receive(0, 1), NetworkError);
}

}  // namespace
}  // namespace trefoil::net
