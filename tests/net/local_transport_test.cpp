#include "net/local_transport.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>

#include "base/error.h"

namespace trefoil::net {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

TEST(LocalTransport, DeliversInOrder) {
  const auto party = MakeLocalTransports(milliseconds(1000));
  party[0]->Send(2, {std::byte{1}});
  party[0]->Send(2, {std::byte{2}, std::byte{3}});

  EXPECT_EQ(party[2]->Receive(0, 1), Bytes({std::byte{1}}));
  EXPECT_EQ(party[2]->Receive(0, 2), Bytes({std::byte{2}, std::byte{3}}));
}

TEST(LocalTransport, RefusesAMessageOfTheWrongLength) {
  const auto party = MakeLocalTransports(milliseconds(1000));
  party[0]->Send(1, Bytes(7));
  party[0]->Send(2, Bytes(9));

  EXPECT_THROW((void)party[1]->Receive(0, 8), ProtocolError);
  EXPECT_THROW((void)party[2]->Receive(0, 8), ProtocolError);
}

TEST(LocalTransport, TakesAMessageUpToALimit) {
  const auto party = MakeLocalTransports(milliseconds(1000));
  party[0]->Send(1, Bytes(7));
  party[0]->Send(1, Bytes(9));

  EXPECT_EQ(party[1]->ReceiveUpTo(0, 8).size(), 7U);
  EXPECT_THROW((void)party[1]->ReceiveUpTo(0, 8), ProtocolError);
}

TEST(LocalTransport, ReportsASilentPeerInTime) {
  const auto party = MakeLocalTransports(milliseconds(50));
  const auto start = steady_clock::now();

  try {
    (void)party[0]->Receive(2, 1);
    FAIL() << "a message came out of nowhere";
  } catch (const NetworkError& error) {
    EXPECT_EQ(error.peer(), 2);
  }
  EXPECT_GE(steady_clock::now() - start, milliseconds(50));
}

TEST(LocalTransport, TellsPeersWhyAPartyStopped) {
  const auto party = MakeLocalTransports(milliseconds(1000));
  party[1]->Abort({.code = AbortCode::kData});

  try {
    (void)party[0]->Receive(1, 1);
    FAIL() << "the abort was not noticed";
  } catch (const NetworkError& error) {
    EXPECT_EQ(error.peer(), 1);
    EXPECT_NE(std::string(error.what()).find("its data"), std::string::npos);
  }
  EXPECT_THROW(party[1]->Send(0, {}), NetworkError);
}

TEST(LocalTransport, MakesOnePartysBudgetEverybodys) {
  const auto party = MakeLocalTransports(milliseconds(1000));
  party[1]->Abort({.code = AbortCode::kBudget});

  EXPECT_THROW((void)party[0]->Receive(1, 1), BudgetError);
  EXPECT_THROW((void)party[2]->Receive(1, 1), BudgetError);
}

TEST(LocalTransport, InterruptEndsReceivingHereAndTellsNobody) {
  const auto party = MakeLocalTransports(milliseconds(30'000));
  party[1]->Send(0, Bytes(1));
  std::thread waiting([&] { EXPECT_THROW((void)party[0]->Receive(2, 1), NetworkError); });
  party[0]->Interrupt();
  waiting.join();

  EXPECT_THROW((void)party[0]->Receive(1, 1), NetworkError);
  EXPECT_NO_THROW(party[0]->Send(1, Bytes(1)));
  EXPECT_NO_THROW((void)party[1]->Receive(0, 1));
}

}  // namespace
}  // namespace trefoil::net
