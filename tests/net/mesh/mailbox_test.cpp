#include "net/mesh/mailbox.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>

#include "base/error.h"

namespace trefoil::net {
namespace {

TEST(Mailbox, DeliversWhatWasQueuedBeforeAPeerFinished) {
  Mailbox mailbox;
  Failure failure;
  mailbox.Put(1, {.lane = 0, .depth = 4, .payload = Bytes(3)});
  mailbox.Finish(1);

  EXPECT_EQ(mailbox.Take(1, 0, failure)->depth, 4U);
  EXPECT_FALSE(mailbox.Take(1, 0, failure));
  EXPECT_EQ(failure.peer, 1);
}

TEST(Mailbox, KeepsLanesApart) {
  Mailbox mailbox;
  Failure failure;
  mailbox.Put(1, {.lane = 2, .depth = 7, .payload = {}});
  mailbox.Put(1, {.lane = 0, .depth = 4, .payload = {}});
  mailbox.Put(1, {.lane = 2, .depth = 8, .payload = {}});

  EXPECT_EQ(mailbox.Take(1, 0, failure)->depth, 4U);
  EXPECT_EQ(mailbox.Take(1, 2, failure)->depth, 7U);
  EXPECT_EQ(mailbox.Take(1, 2, failure)->depth, 8U);
}

TEST(Mailbox, OnePeersEndIsNotTheOthers) {
  Mailbox mailbox;
  Failure failure;
  mailbox.Finish(1);
  mailbox.Put(2, {});

  EXPECT_TRUE(mailbox.Take(2, 0, failure));
  EXPECT_TRUE(mailbox.WhyNotSend(1));
}

TEST(Mailbox, WakesAReaderOfEitherPeerAndKeepsTheFirstFailure) {
  Mailbox mailbox;
  Failure failure;
  std::thread breaker([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    mailbox.Fail({.peer = 2, .cause = "first"});
    mailbox.Fail({.peer = 1, .cause = "second"});
  });

  EXPECT_FALSE(mailbox.Take(1, 0, failure));
  breaker.join();

  EXPECT_EQ(failure.peer, 2);
  EXPECT_EQ(mailbox.WhyNotSend(1)->cause, "first");
}

TEST(Mailbox, FailuresAreThrownAsTheirType) {
  EXPECT_THROW(Throw({.kind = Failure::Kind::kNetwork, .peer = 1, .cause = "x"}), NetworkError);
  EXPECT_THROW(Throw({.kind = Failure::Kind::kProtocol, .peer = 1, .cause = "x"}), ProtocolError);
  EXPECT_THROW(Throw({.kind = Failure::Kind::kBudget, .peer = 1, .cause = "x"}), BudgetError);
  EXPECT_THROW(Throw({.kind = Failure::Kind::kMemory, .cause = {}}), std::bad_alloc);
}

TEST(Mailbox, AnAbortNamesWhomItIsAbout) {
  const auto of_1 = [](AbortCode code, int about) {
    const auto failure = FailureOf(0, 1, {.code = code, .about = about});
    const std::string kind = failure.kind == Failure::Kind::kProtocol ? "breach, " : "";
    return kind + std::to_string(failure.peer) + ": " + failure.cause;
  };
  EXPECT_EQ(of_1(AbortCode::kProtocol, 0),
            "breach, 0: broke the protocol, as party 1 found: compare versions and settings of both");
  EXPECT_EQ(of_1(AbortCode::kProtocol, 1), "1: broke the protocol, and was told so");
  EXPECT_EQ(of_1(AbortCode::kProtocol, 2), "2: broke the protocol (reported by party 1)");
  EXPECT_EQ(of_1(AbortCode::kPeerLost, 0), "1: gave up the link to this party");
  EXPECT_EQ(of_1(AbortCode::kPeerLost, 1), "1: aborted: it lost a peer");
  EXPECT_EQ(of_1(AbortCode::kPeerLost, 2), "2: lost (reported by party 1)");
  for (const int nobody : {-128, -1, 3, 127}) {
    EXPECT_EQ(of_1(AbortCode::kProtocol, nobody), "1: aborted: it received what the protocol does not allow");
    EXPECT_EQ(of_1(AbortCode::kPeerLost, nobody), "1: aborted: it lost a peer");
  }
  EXPECT_EQ(FailureOf(0, 1, {.code = AbortCode::kBudget}).kind, Failure::Kind::kBudget);
}

TEST(Mailbox, SaysHowLongAReaderHasWaitedForAPeerThatSendsNothing) {
  Mailbox mailbox;
  EXPECT_EQ(mailbox.WaitingFor(1).count(), 0);
  std::thread reader([&] {
    Failure failure;
    EXPECT_TRUE(mailbox.Take(1, 0, failure));
  });
  while (mailbox.WaitingFor(1) < std::chrono::milliseconds(60)) std::this_thread::yield();
  EXPECT_EQ(mailbox.WaitingFor(2).count(), 0);
  mailbox.Put(1, {.lane = 3, .depth = 1, .payload = {}});  // not what it waits for, but a sign of life
  EXPECT_LT(mailbox.WaitingFor(1), std::chrono::milliseconds(60));
  mailbox.Put(1, {.lane = 0, .depth = 1, .payload = {}});
  reader.join();
  EXPECT_EQ(mailbox.WaitingFor(1).count(), 0);
}

}  // namespace
}  // namespace trefoil::net
