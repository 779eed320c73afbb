#include "mpc/context.h"

#include <gtest/gtest.h>

#include <chrono>
#include <set>

#include "base/error.h"
#include "net/local_transport.h"
#include "tests/support/protocol_test.h"

namespace trefoil::mpc {
namespace {

using namespace testing_support;  // NOLINT(google-build-using-namespace): test helpers only

class ContextTest : public testing::Test {
 protected:
  Context At(int self) {
    return {*transports_[static_cast<std::size_t>(self)], InsecurePrss(Seed{1}, self), pool_};
  }

  Transports transports_ = net::MakeLocalTransports(std::chrono::seconds(30));
  ThreadPool pool_{1};
};

TEST_F(ContextTest, KnowsItsNeighbours) {
  for (int self = 0; self < 3; ++self) {
    Context party = At(self);
    EXPECT_EQ(party.self(), self);
    EXPECT_EQ(party.next(), (self + 1) % 3);
    EXPECT_EQ(party.previous(), (self + 2) % 3);
  }
}

TEST_F(ContextTest, RotatesRolesOverTheParties) {
  Context party = At(1);
  for (int use = 0; use < 7; ++use) {
    const Roles roles = party.NextRoles();
    EXPECT_EQ(roles.a, use % 3);
    EXPECT_EQ(roles.b, (use + 1) % 3);
    EXPECT_EQ(roles.dealer, (use + 2) % 3);
  }
  party.RestartRoles();
  EXPECT_EQ(party.NextRoles().a, 0);
}

TEST_F(ContextTest, NumbersOperationsOnceAlsoWhenRolesRestart) {
  Context party = At(0);
  std::set<OperationId> seen;
  for (int k = 0; k < 100; ++k) {
    if (k % 10 == 0) party.RestartRoles();
    EXPECT_TRUE(seen.insert(party.NextOperation()).second);
  }
}

TEST_F(ContextTest, DrawsSharingsOfZeroOverTheThreeParties) {
  std::array<Context, 3> party{At(0), At(1), At(2)};
  RingMatrix sum = RingMatrix::Zero(5, 3);
  BitMatrix parity(3, 70);
  for (Context& one : party) {
    const RingMatrix part = one.DrawZero(4, 5, 3);
    EXPECT_TRUE((part != 0).all());
    sum += part;
    parity = parity ^ one.DrawZeroBits(4, 3, 70);
  }
  EXPECT_TRUE((sum == 0).all());
  EXPECT_TRUE((parity.words() == 0).all());
}

TEST_F(ContextTest, DrawsBothComponentsInPartsAsAtOnce) {
  Context party = At(2);
  const RingMatrix own = party.Draw(2, Purpose::kInput, 7, 5, 3);
  const RingMatrix next = party.Draw(0, Purpose::kInput, 7, 5, 3);
  RingMatrix own_in_parts(5, 3);
  RingMatrix next_in_parts(5, 3);
  for (const int component : {2, 0}) party.StartDraw(component, Purpose::kInput, 7);
  for (const auto& [first, count] : {std::pair{0, 2}, std::pair{2, 12}, std::pair{14, 1}}) {
    party.ContinueDraw(2, {own_in_parts.data() + first, static_cast<std::size_t>(count)});
    party.ContinueDraw(0, {next_in_parts.data() + first, static_cast<std::size_t>(count)});
  }
  EXPECT_TRUE((own_in_parts == own).all());
  EXPECT_TRUE((next_in_parts == next).all());
}

TEST_F(ContextTest, DrawsBitsWithACleanTail) {
  Context party = At(0);
  const BitMatrix bits = party.DrawBits(1, Purpose::kMask, 3, 4, 70);
  EXPECT_TRUE((bits.words().col(1) < Word{64}).all());
  EXPECT_TRUE((bits.words().col(0) != 0).all());
}

TEST_F(ContextTest, MovesWordsAndBitsOverTheLinks) {
  Context sender = At(0);
  Context receiver = At(2);
  const RingMatrix words = RandomWords(1, 3, 5);
  const BitMatrix bits = ToPlanes(RandomWords(2, 70, 1), 5);
  sender.SendWords(2, words);
  sender.SendBits(2, bits);
  sender.SendWords(2, RingMatrix(0, 4));
  EXPECT_TRUE((receiver.ReceiveWords(0, 3, 5) == words).all());
  EXPECT_TRUE((receiver.ReceiveBits(0, 5, 70).words() == bits.words()).all());
  EXPECT_EQ(receiver.ReceiveWords(0, 0, 4).cols(), 4);
  EXPECT_EQ(sender.transport().counters().bytes_sent, 164U);
}

TEST_F(ContextTest, AddsWordsThatAreReceived) {
  Context sender = At(0);
  Context receiver = At(2);
  const RingMatrix words = RandomWords(1, 3, 5);
  RingMatrix sum = RandomWords(2, 3, 5);
  const RingMatrix expected = sum + words;
  sender.SendWords(2, words);
  sender.SendWords(2, RingMatrix(0, 5));
  receiver.AddReceivedWords(0, sum);
  EXPECT_TRUE((sum == expected).all());
  RingMatrix nothing(0, 5);
  receiver.AddReceivedWords(0, nothing);
  sender.SendWords(2, words);
  EXPECT_THROW(receiver.AddReceivedWords(0, nothing), ProtocolError);
}

TEST_F(ContextTest, SendsWordsLowestByteFirst) {
  Context sender = At(0);
  sender.SendWords(1, RingMatrix::Constant(1, 1, 0x0807060504030201));
  const net::Bytes bytes = transports_[1]->Receive(0, 8);
  for (std::size_t k = 0; k < 8; ++k) EXPECT_EQ(std::to_integer<std::size_t>(bytes[k]), k + 1);
}

TEST_F(ContextTest, RefusesMessagesOfAnotherLength) {
  Context sender = At(0);
  Context receiver = At(1);
  sender.SendWords(1, RandomWords(1, 3, 5));
  EXPECT_THROW((void)receiver.ReceiveWords(0, 3, 4), ProtocolError);
  sender.SendWords(1, RandomWords(1, 3, 5));
  EXPECT_THROW((void)receiver.ReceiveWords(0, 4, 4), ProtocolError);
  sender.SendBits(1, BitMatrix(2, 8));
  EXPECT_THROW((void)receiver.ReceiveBits(0, 1, 8), ProtocolError);
}

}  // namespace
}  // namespace trefoil::mpc
