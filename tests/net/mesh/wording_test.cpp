#include "net/mesh/wording.h"

#include <gtest/gtest.h>

namespace trefoil::net {
namespace {

TEST(DescribeDuration, SaysSecondsWhereTheyAreWhole) {
  EXPECT_EQ(DescribeDuration(std::chrono::milliseconds(120'000)), "120 s");
  EXPECT_EQ(DescribeDuration(std::chrono::milliseconds(1'250)), "1250 ms");
}

TEST(DescribeError, BeginsInLowerCase) {
  EXPECT_EQ(DescribeError(asio::error::connection_refused), "connection refused");
  EXPECT_EQ(DescribeError(asio::error::eof), "closed the connection");
}

TEST(DescribeOtherEnd, IsAnAddressOrNone) {
  asio::io_context io;
  tcp::acceptor acceptor(io, {asio::ip::make_address("127.0.0.1"), 0});
  tcp::socket socket(io);
  EXPECT_EQ(DescribeOtherEnd(socket), "unknown address");
  socket.connect(acceptor.local_endpoint());
  EXPECT_EQ(DescribeOtherEnd(socket), "127.0.0.1");
}

}  // namespace
}  // namespace trefoil::net
