#include "base/threads/run_both.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <stdexcept>
#include <string>

namespace trefoil {
namespace {

TEST(RunBoth, RunsThemAtTheSameTime) {
  std::promise<int> to_first;
  std::promise<int> to_second;
  int first_got = 0;
  int second_got = 0;
  RunBoth(
      [&] {
        to_second.set_value(1);
        first_got = to_first.get_future().get();
      },
      [&] {
        to_first.set_value(2);
        second_got = to_second.get_future().get();
      },
      [] { FAIL() << "nothing has failed"; });

  EXPECT_EQ(first_got, 2);
  EXPECT_EQ(second_got, 1);
}

TEST(RunBoth, RethrowsTheEarlierFailureAndReleasesTheOther) {
  for (const bool second_fails : {false, true}) {
    std::promise<void> released;
    std::atomic<int> calls = 0;
    const auto waits = [&] {
      released.get_future().get();
      throw std::runtime_error("later");
    };
    const auto fails = [] { throw std::runtime_error("earlier"); };
    const auto on_failure = [&] {
      ++calls;
      released.set_value();
    };
    try {
      if (second_fails) {
        RunBoth(waits, fails, on_failure);
      } else {
        RunBoth(fails, waits, on_failure);
      }
      FAIL() << "the failure was lost";
    } catch (const std::runtime_error& error) {
      EXPECT_EQ(error.what(), std::string("earlier"));
    }
    EXPECT_EQ(calls, 1);
  }
}

}  // namespace
}  // namespace trefoil
