#include "base/threads/blocking_call.h"

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
    const BlockingCall two("reading", second, BlockingCall::Of::kProgram);
    EXPECT_EQ(BlockingCall::Oldest()->what, "writing a/first");
    EXPECT_EQ(BlockingCall::Oldest()->of, BlockingCall::Of::kStorage);
    one.reset();
    EXPECT_EQ(BlockingCall::Oldest()->what, "reading a/second");
    EXPECT_EQ(BlockingCall::Oldest()->of, BlockingCall::Of::kProgram);
    EXPECT_GE(BlockingCall::Oldest()->age.count(), 0);
  }
  EXPECT_FALSE(BlockingCall::Oldest());
}

}  // namespace
}  // namespace trefoil
