#include "runtime/stop_signals.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>

namespace trefoil::runtime {
namespace {

// In a process of its own, which gets the signals.
TEST(NoteStopSignals, ASecondSignalEndsTheProcessWhicheverItIs) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto run = [](int first, int second) {
    NoteStopSignals();
    (void)std::raise(first);
    if (StopSignal() != first) std::_Exit(2);
    (void)std::raise(second);
    std::_Exit(3);
  };
  EXPECT_EXIT(run(SIGTERM, SIGTERM), testing::KilledBySignal(SIGTERM), "");
  EXPECT_EXIT(run(SIGTERM, SIGINT), testing::KilledBySignal(SIGINT), "");
}

}  // namespace
}  // namespace trefoil::runtime
