#include "base/threads/prefetcher.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <stdexcept>
#include <thread>

namespace trefoil {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

TEST(Prefetcher, GivesEveryValueOnceAndInOrder) {
  Prefetcher<int> ahead(3, [next = 0](const std::atomic<bool>&) mutable { return next++; });
  for (int expected = 0; expected < 1000; ++expected) ASSERT_EQ(ahead.Next(), expected);
}

TEST(Prefetcher, GivesValuesThatCanOnlyBeMoved) {
  Prefetcher<std::unique_ptr<int>> ahead(2,
                                         [](const std::atomic<bool>&) { return std::make_unique<int>(7); });
  EXPECT_EQ(*ahead.Next(), 7);
}

TEST(Prefetcher, MakesAsManyAheadAsItMayAndNoMore) {
  std::atomic<int> made = 0;
  Prefetcher<int> ahead(3, [&](const std::atomic<bool>&) { return ++made; });
  const auto until = steady_clock::now() + std::chrono::seconds(10);
  while (made < 3 && steady_clock::now() < until) std::this_thread::sleep_for(milliseconds(1));
  std::this_thread::sleep_for(milliseconds(30));  // time to make a fourth, were it let
  EXPECT_EQ(made, 3);
  EXPECT_EQ(ahead.Next(), 1);
  while (made < 4 && steady_clock::now() < until) std::this_thread::sleep_for(milliseconds(1));
  EXPECT_EQ(made, 4);
}

TEST(Prefetcher, MakesNothingInPlaceOfAValueThatIsInUse) {
  std::atomic<int> made = 0;
  Prefetcher<int> ahead(2, [&](const std::atomic<bool>&) { return ++made; });
  const auto made_while_using = [&](int expected) {
    return ahead.UseNext([&](const int& value) {
      EXPECT_EQ(value, expected);
      std::this_thread::sleep_for(milliseconds(30));  // time to make one too many, were it let
      return made.load();
    });
  };
  ahead.WaitUntilFull();
  EXPECT_EQ(made_while_using(1), 2);
  EXPECT_LE(made_while_using(2), 3);  // the one behind it may be made beside
  ahead.WaitUntilFull();
  EXPECT_EQ(made, 4);
  EXPECT_THROW(ahead.UseNext([](const int&) -> int { throw std::runtime_error("in the consumer"); }),
               std::runtime_error);
  ahead.WaitUntilFull();
  EXPECT_EQ(made, 5);
}

TEST(Prefetcher, GivesValuesToUseEachOnceAndInOrderWhereOneAloneIsMadeAhead) {
  Prefetcher<int> ahead(1, [next = 0](const std::atomic<bool>&) mutable { return next++; });
  for (int expected = 0; expected < 1000; ++expected)
    ASSERT_EQ(ahead.UseNext([](const int& value) { return value; }), expected);
}

TEST(Prefetcher, RethrowsToTheConsumerAfterWhatWasMadeBefore) {
  std::atomic<bool> throwing = false;
  Prefetcher<int> ahead(2, [&throwing, next = 0](const std::atomic<bool>&) mutable {
    throwing = next == 2;
    if (throwing) throw std::runtime_error("in the producer");
    return next++;
  });
  EXPECT_EQ(ahead.Next(), 0);
  while (!throwing) std::this_thread::yield();
  std::this_thread::sleep_for(milliseconds(30));  // the failure is there, the second value still waits
  EXPECT_EQ(ahead.Next(), 1);
  EXPECT_THROW((void)ahead.Next(), std::runtime_error);
  EXPECT_THROW((void)ahead.Next(), std::runtime_error);
}

/// The producer would go on for ever; it is told to stop both while it makes a value and while it waits.
TEST(Prefetcher, StopsWhenItDies) {
  const auto start = steady_clock::now();
  {
    std::atomic<bool> making = false;
    const Prefetcher<int> busy(1, [&](const std::atomic<bool>& unwanted) {
      making = true;
      while (!unwanted) std::this_thread::yield();
      return 0;
    });
    while (!making) std::this_thread::yield();
    const Prefetcher<int> idle(1, [](const std::atomic<bool>&) { return 0; });
  }
  EXPECT_LT(steady_clock::now() - start, std::chrono::seconds(5));
}

TEST(Prefetcher, WaitsUntilAllThatMayWaitIsThere) {
  std::atomic<int> made = 0;
  Prefetcher<int> ahead(3, [&](const std::atomic<bool>&) { return made++; });
  ahead.WaitUntilFull();
  EXPECT_EQ(made, 3);
  (void)ahead.Next();
  ahead.WaitUntilFull();
  EXPECT_EQ(made, 4);

  Prefetcher<int> failing(2, [](const std::atomic<bool>&) -> int { throw std::runtime_error("none"); });
  failing.WaitUntilFull();
}

TEST(Prefetcher, DropsWhatNobodyTook) {
  const auto token = std::make_shared<int>(0);
  {
    Prefetcher<std::shared_ptr<int>> ahead(4, [&](const std::atomic<bool>&) { return token; });
    (void)ahead.Next();
  }
  EXPECT_EQ(token.use_count(), 1);
}

TEST(Prefetcher, RefusesADepthOfNothing) {
  EXPECT_THROW(Prefetcher<int>(0, [](const std::atomic<bool>&) { return 0; }), ContractError);
}

}  // namespace
}  // namespace trefoil
