#include "net/listener.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace trefoil::net {
namespace {

using std::chrono::seconds;

TEST(LogLimiter, LetsASourceSpeakOncePerMinute) {
  LogLimiter limiter;
  const LogLimiter::Clock::time_point start{};

  EXPECT_TRUE(limiter.Allow("10.0.0.1", start));
  EXPECT_FALSE(limiter.Allow("10.0.0.1", start + seconds(59)));
  EXPECT_TRUE(limiter.Allow("10.0.0.2", start + seconds(59)));
  EXPECT_TRUE(limiter.Allow("10.0.0.1", start + seconds(60)));
  EXPECT_FALSE(limiter.Allow("10.0.0.1", start + seconds(61)));
}

TEST(LogLimiter, DoesNotGrowWithoutBound) {
  LogLimiter limiter;
  const LogLimiter::Clock::time_point start{};
  int allowed = 0;
  for (int i = 0; i < 5000; ++i) allowed += limiter.Allow(std::to_string(i), start) ? 1 : 0;

  EXPECT_EQ(allowed, 1024);
  EXPECT_TRUE(limiter.Allow("later", start + seconds(60)));
}

}  // namespace
}  // namespace trefoil::net
