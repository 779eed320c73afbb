#include "base/blocking_call.h"

#include <gtest/gtest.h>

#include <memory>

namespace trefoil {
namespace {

TEST(BlockingCall, NamesTheOneThatBeganFirst) {
  EXPECT_FALSE(BlockingCall::Oldest());
  const std::filesystem::path first = "a/first";
  const std::filesystem::path second = "a/second";
  auto one = std::make_unique<BlockingCall>("writing", first);
  {
    const BlockingCall two("reading", second);
    EXPECT_EQ(BlockingCall::Oldest()->what, "writing a/first");
    one.reset();
    EXPECT_EQ(BlockingCall::Oldest()->what, "reading a/second");
    EXPECT_GE(BlockingCall::Oldest()->age.count(), 0);
  }
  EXPECT_FALSE(BlockingCall::Oldest());
}

}  // namespace
}  // namespace trefoil
