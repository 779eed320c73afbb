#include "net/start/listener.h"

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

TEST(DropReport, SaysTheFirstAtOnceAndTheOthersOnceAMinute) {
  DropReport report;
  const DropReport::Clock::time_point start{};

  EXPECT_EQ(report.Count("10.0.0.1", start),
            "dropped connections that were not through with their handshake: 1, of which 1 from 10.0.0.1: "
            "more came at once than this party keeps");
  for (int i = 0; i < 500; ++i) EXPECT_EQ(report.Count("10.0.0.1", start + seconds(59)), "");
  EXPECT_EQ(report.Count("10.0.0.2", start + seconds(59)), "");
  EXPECT_NE(report.Count("10.0.0.2", start + seconds(60)).find(": 502, of which 500 from 10.0.0.1"),
            std::string::npos);
  EXPECT_EQ(report.Rest(), "");
  EXPECT_EQ(report.Count("10.0.0.3", start + seconds(61)), "");
  EXPECT_NE(report.Rest().find(": 1, of which 1 from 10.0.0.3"), std::string::npos);
  EXPECT_EQ(report.total(), 504U);
}

}  // namespace
}  // namespace trefoil::net
