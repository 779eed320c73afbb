#include "net/mailbox.h"

#include <gtest/gtest.h>

#include <chrono>
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
