#include "net/start/peer_addresses.h"

#include <gtest/gtest.h>

#include <chrono>

namespace trefoil::net {
namespace {

TEST(PeerAddresses, KnowsAddressesInFiguresAtOnce) {
  asio::io_context io;
  PeerAddresses addresses(io, {"10.1.2.3", "::ffff:10.1.2.4", "2001:db8::1"});
  EXPECT_TRUE(addresses.Contain("10.1.2.3"));
  EXPECT_TRUE(addresses.Contain("10.1.2.4"));
  EXPECT_TRUE(addresses.Contain("2001:db8::1"));
  EXPECT_FALSE(addresses.Contain("10.1.2.5"));
  addresses.Start();
  io.run();  // nothing to look up: it ends
}

TEST(PeerAddresses, LooksNamesUpAndPassesOverThoseThatHaveNoAddress) {
  asio::io_context io;
  PeerAddresses addresses(io, {"no-such-name.invalid", "localhost"});
  EXPECT_FALSE(addresses.Contain("127.0.0.1"));
  addresses.Start();
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!addresses.Contain("127.0.0.1") && std::chrono::steady_clock::now() < end)
    io.run_one_for(std::chrono::milliseconds(100));
  EXPECT_TRUE(addresses.Contain("127.0.0.1"));
  addresses.Stop();
  io.run();
}

TEST(AddressText, WritesAMappedAddressAsWhatItIs) {
  EXPECT_EQ(AddressText(asio::ip::make_address("::ffff:192.0.2.7")), "192.0.2.7");
  EXPECT_EQ(AddressText(asio::ip::make_address("2001:db8::7")), "2001:db8::7");
}

}  // namespace
}  // namespace trefoil::net
