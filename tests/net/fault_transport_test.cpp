#include "../support/faults/fault_transport.h"

#include <gtest/gtest.h>

#include <chrono>

#include "base/error.h"
#include "net/local_transport.h"

namespace trefoil::net {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

class FaultTransportTest : public testing::Test {
 protected:
  FaultTransport WithFault(Fault fault) { return {std::move(party_[0]), fault}; }

  std::array<std::unique_ptr<Transport>, kParties> party_ = MakeLocalTransports(milliseconds(60));
};

TEST_F(FaultTransportTest, WithoutAFaultIsTheInnerTransport) {
  FaultTransport transport = WithFault({});
  transport.Send(1, Bytes(4));
  (void)party_[1]->Receive(0, 4);
  party_[1]->Send(0, Bytes(2));
  (void)transport.Receive(1, 2);

  EXPECT_EQ(transport.counters().rounds, 2U);
  EXPECT_EQ(transport.counters().bytes_sent, 4U);
}

TEST_F(FaultTransportTest, DropsOneMessage) {
  FaultTransport transport = WithFault({.kind = FaultKind::kDrop, .message = 1});
  for (std::size_t size = 1; size <= 3; ++size) transport.Send(1, Bytes(size));

  EXPECT_EQ(party_[1]->Receive(0, 1).size(), 1U);
  EXPECT_EQ(party_[1]->Receive(0, 3).size(), 3U);
  EXPECT_TRUE(transport.struck());
}

TEST_F(FaultTransportTest, CutsTheLinks) {
  FaultTransport transport = WithFault({.kind = FaultKind::kCut, .message = 0});
  EXPECT_FALSE(transport.struck());
  transport.Send(1, Bytes(1));

  EXPECT_THROW(transport.Send(2, Bytes(1)), NetworkError);
  EXPECT_THROW((void)transport.Receive(2, 1), NetworkError);
  transport.Abort({});
  EXPECT_THROW((void)party_[1]->Receive(0, 1), NetworkError);
}

TEST_F(FaultTransportTest, DelaysAMessage) {
  FaultTransport transport = WithFault({.kind = FaultKind::kDelay, .message = 0, .delay = milliseconds(40)});
  const auto start = steady_clock::now();
  transport.Send(1, Bytes(1));

  EXPECT_GE(steady_clock::now() - start, milliseconds(40));
  EXPECT_EQ(party_[1]->Receive(0, 1).size(), 1U);
}

TEST_F(FaultTransportTest, GarblesTheLength) {
  FaultTransport shorter = WithFault({.kind = FaultKind::kTruncate, .message = 0});
  shorter.Send(1, Bytes(8));
  EXPECT_THROW((void)party_[1]->Receive(0, 8), ProtocolError);

  FaultTransport longer(std::move(party_[2]), {.kind = FaultKind::kExtend, .message = 0});
  longer.Send(1, Bytes(8));
  EXPECT_THROW((void)party_[1]->Receive(2, 8), ProtocolError);
}

TEST_F(FaultTransportTest, FlipsABit) {
  FaultTransport transport = WithFault({.kind = FaultKind::kFlip, .message = 0});
  transport.Send(1, Bytes(3));

  EXPECT_EQ(party_[1]->Receive(0, 3), Bytes({std::byte{0}, std::byte{1}, std::byte{0}}));
}

}  // namespace
}  // namespace trefoil::net
