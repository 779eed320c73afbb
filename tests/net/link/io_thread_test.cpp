#include "net/link/io_thread.h"

#include <gtest/gtest.h>

#include <future>

namespace trefoil::net {
namespace {

TEST(IoThread, GoesOnAfterAHandlerThatFoundNoMemory) {
  std::promise<void> told;
  std::promise<void> later;
  IoThread io([&] { told.set_value(); });
  asio::post(io.context(), [] { throw std::bad_alloc(); });
  asio::post(io.context(), [&] { later.set_value(); });
  const auto limit = std::chrono::seconds(5);
  EXPECT_EQ(told.get_future().wait_for(limit), std::future_status::ready);
  EXPECT_EQ(later.get_future().wait_for(limit), std::future_status::ready);
}

}  // namespace
}  // namespace trefoil::net
