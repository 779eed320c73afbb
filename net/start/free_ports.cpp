#include "net/start/free_ports.h"

#include <algorithm>
#include <iterator>
#include <random>
#include <stdexcept>
#include <vector>

#include "net/link/asio.h"

namespace trefoil::net {

std::array<std::uint16_t, 3> FreeLoopbackPorts(int ranks) {
  std::random_device device;
  std::uniform_int_distribution<std::uint16_t> any(20'000, 31'999);
  asio::io_context io;
  std::vector<tcp::acceptor> held;  // a port is kept until all three are found
  std::array<std::uint16_t, 3> ports{};
  std::size_t found = 0;
  for (int tried = 0; tried < 1'000 && found < ports.size(); ++tried) {
    const std::uint16_t port = any(device);
    std::vector<tcp::acceptor> sockets;
    ErrorCode error;
    for (int rank = 0; rank < ranks && !error; ++rank) {
      sockets.emplace_back(io, tcp::v4())
          .bind({asio::ip::address_v4::loopback(), static_cast<std::uint16_t>(port + rank)}, error);
    }
    if (error) continue;
    ports.at(found++) = port;
    std::move(sockets.begin(), sockets.end(), std::back_inserter(held));
  }
  if (found < ports.size())
    throw std::runtime_error("127.0.0.1: found no three free ports between 20000 and 31999");
  return ports;
}

}  // namespace trefoil::net
