#include "base/threads/thread_pool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <thread>
#include <vector>

#include "base/error.h"

namespace trefoil {
namespace {

TEST(ThreadsFor, IsWhatWasAskedForOrTheCores) {
  EXPECT_EQ(ThreadsFor(3), 3U);
  EXPECT_EQ(ThreadsFor(0), std::max(1U, std::thread::hardware_concurrency()));
}

class ThreadPoolTest : public testing::TestWithParam<std::size_t> {};

TEST_P(ThreadPoolTest, VisitsEveryItemOnce) {
  ThreadPool pool(GetParam());
  for (const std::size_t count : {0U, 1U, 7U, 1000U, 4096U}) {
    std::vector<int> visits(count, 0);
    pool.ParallelFor(count, 3, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) ++visits[i];
    });
    EXPECT_EQ(visits, std::vector<int>(count, 1)) << count;
  }
}

TEST_P(ThreadPoolTest, RethrowsAndStaysUsable) {
  ThreadPool pool(GetParam());
  const auto fail = [](std::size_t, std::size_t) { throw std::runtime_error("in the body"); };
  EXPECT_THROW(pool.ParallelFor(100, 1, fail), std::runtime_error);
  std::vector<int> visits(100, 0);
  pool.ParallelFor(100, 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) ++visits[i];
  });
  EXPECT_EQ(visits, std::vector<int>(100, 1));
}

TEST(ThreadPool, RefusesNoThreads) { EXPECT_THROW(ThreadPool(0), ContractError); }

INSTANTIATE_TEST_SUITE_P(Threads, ThreadPoolTest, testing::Values(1, 2, 5));

}  // namespace
}  // namespace trefoil
