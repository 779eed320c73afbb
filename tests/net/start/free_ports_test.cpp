#include "net/start/free_ports.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "net/start/listener.h"

namespace trefoil::net {
namespace {

TEST(FreeLoopbackPorts, AreThreeBelowThoseOfClientsAndCanBeListenedOn) {
  const auto ports = FreeLoopbackPorts();
  EXPECT_EQ(std::set(ports.begin(), ports.end()).size(), 3);
  asio::io_context io;
  for (const auto port : ports) {
    EXPECT_GE(port, 20'000);
    EXPECT_LT(port, 32'000);
    EXPECT_NO_THROW((void)OpenPort(io, "127.0.0.1", port, "a setting"));
  }
}

TEST(FreeLoopbackPorts, AreInRowsForSeveralRanks) {
  const auto ports = FreeLoopbackPorts(4);
  asio::io_context io;
  std::vector<tcp::acceptor> all;
  for (const auto port : ports) {
    for (int rank = 0; rank < 4; ++rank)
      all.push_back(OpenPort(io, "127.0.0.1", static_cast<std::uint16_t>(port + rank), "a setting"));
  }
}

}  // namespace
}  // namespace trefoil::net
