#include "net/mesh/mesh.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "base/error.h"
#include "tests/net/mesh_testing.h"

namespace trefoil::net {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;
using namespace testing_support;  // NOLINT: the vocabulary of these tests

const std::vector<int> kAll{0, 1, 2};

Bytes Pattern(std::size_t size, int seed) {
  Bytes bytes(size);
  for (std::size_t i = 0; i < size; ++i)
    bytes[i] = static_cast<std::byte>(i * 7 + i / 253 + static_cast<std::size_t>(seed));
  return bytes;
}

void ExpectAllDone(const std::array<Outcome, kParties>& outcomes) {
  for (const auto& outcome : outcomes) EXPECT_EQ(outcome.kind, Outcome::Kind::kDone) << outcome.text;
}

TEST(Mesh, CarriesMessagesAroundAndCountsThem) {
  TestMesh mesh;
  const auto outcomes = RunParties(mesh, kAll, [](int self, MeshTransport& transport) {
    const int next = (self + 1) % kParties;
    const int previous = (self + 2) % kParties;
    for (int turn = 0; turn < 200; ++turn) {
      transport.Send(next, Pattern(100, self + turn));
      EXPECT_EQ(transport.Receive(previous, 100), Pattern(100, previous + turn));
    }
    EXPECT_EQ(transport.counters().rounds, 200U);
    EXPECT_EQ(transport.counters().bytes_sent, 20'000U);
  });
  ExpectAllDone(outcomes);
}

TEST(Mesh, AgreesOnASessionThatIsNewEachTime) {
  std::array<std::array<SessionId, kParties>, 2> sessions{};
  for (auto& session : sessions) {
    TestMesh mesh;
    ExpectAllDone(RunParties(mesh, kAll, [&](int self, MeshTransport& transport) {
      session[static_cast<std::size_t>(self)] = transport.session();
    }));
    EXPECT_EQ(session[0], session[1]);
    EXPECT_EQ(session[0], session[2]);
  }
  EXPECT_NE(sessions[0][0], sessions[1][0]);
  EXPECT_NE(sessions[0][0], SessionId{});
}

TEST(Mesh, CarriesLargeMessagesInAllDirectionsAtOnce) {
  constexpr std::size_t kSize = 20'000'000;
  TestMesh mesh;
  const auto outcomes = RunParties(mesh, kAll, [&](int self, MeshTransport& transport) {
    for (int peer = 0; peer < kParties; ++peer) {
      if (peer != self) transport.Send(peer, Pattern(kSize, 10 * self + peer));
    }
    for (int peer = 0; peer < kParties; ++peer) {
      if (peer == self) continue;
      EXPECT_TRUE(transport.Receive(peer, kSize) == Pattern(kSize, 10 * peer + self));
    }
  });
  ExpectAllDone(outcomes);
}

TEST(Mesh, CarriesEmptyMessages) {
  TestMesh mesh;
  ExpectAllDone(RunParties(mesh, kAll, [](int self, MeshTransport& transport) {
    transport.Send((self + 1) % kParties, {});
    EXPECT_TRUE(transport.Receive((self + 2) % kParties, 0).empty());
  }));
}

TEST(Mesh, RefusesAMessageOfTheWrongLength) {
  TestMesh mesh;
  const auto outcomes = RunParties(mesh, kAll, [](int self, MeshTransport& transport) {
    if (self == 0) transport.Send(1, Bytes(9));
    if (self == 1) (void)transport.Receive(0, 8);
  });
  EXPECT_EQ(outcomes[1].kind, Outcome::Kind::kProtocol);
}

// Party 1 ends long before party 2 reads what party 1 has sent; parties 0 and 2 still talk to each other
// after that.
TEST(Mesh, DeliversWhatAFinishedPartyHasSent) {
  constexpr std::size_t kSize = 5'000'000;
  TestMesh mesh;
  const auto outcomes = RunParties(mesh, kAll, [&](int self, MeshTransport& transport) {
    if (self == 1) return transport.Send(2, Pattern(kSize, 1));
    std::this_thread::sleep_for(milliseconds(400));
    const int other = 2 - self;
    transport.Send(other, Pattern(10, self));
    EXPECT_EQ(transport.Receive(other, 10), Pattern(10, other));
    if (self == 0) return;
    EXPECT_TRUE(transport.Receive(1, kSize) == Pattern(kSize, 1));
  });
  ExpectAllDone(outcomes);
}

TEST(Mesh, ReportsAFinishedPartyOnlyToWhoWaitsForIt) {
  TestMesh mesh;
  const auto outcomes = RunParties(mesh, kAll, [](int self, MeshTransport& transport) {
    if (self == 0) (void)transport.Receive(1, 1);
    if (self == 2) std::this_thread::sleep_for(milliseconds(100));
  });
  EXPECT_EQ(outcomes[0].kind, Outcome::Kind::kNetwork);
  EXPECT_EQ(outcomes[0].text, "party 1: closed the connection");
  EXPECT_EQ(outcomes[1].kind, Outcome::Kind::kDone);
  EXPECT_EQ(outcomes[2].kind, Outcome::Kind::kDone);
}

TEST(Mesh, StaysUpWhileNobodyHasAnythingToSay) {
  TestMesh mesh;
  for (const int party : kAll) mesh.config(party).peer_timeout = milliseconds(300);
  ExpectAllDone(RunParties(mesh, kAll, [](int self, MeshTransport& transport) {
    std::this_thread::sleep_for(milliseconds(1200));
    transport.Send((self + 1) % kParties, Bytes(1));
    (void)transport.Receive((self + 2) % kParties, 1);
  }));
}

TEST(Mesh, EndsQuickly) {
  TestMesh mesh;
  std::array<steady_clock::time_point, kParties> ends;
  const auto outcomes = RunParties(mesh, kAll, [&](int self, MeshTransport& transport) {
    transport.Send((self + 1) % kParties, Bytes(1));
    (void)transport.Receive((self + 2) % kParties, 1);
    ends[static_cast<std::size_t>(self)] = steady_clock::now();
  });
  ExpectAllDone(outcomes);
  for (const auto& end : ends) EXPECT_LT(steady_clock::now() - end, milliseconds(1000));
}

}  // namespace
}  // namespace trefoil::net
