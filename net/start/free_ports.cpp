#include "net/start/free_ports.h"

#include <random>
#include <stdexcept>
#include <vector>

#include "net/link/asio.h"

namespace trefoil::net {

std::array<std::uint16_t, 3> FreeLoopbackPorts() {
  std::random_device device;
  std::uniform_int_distribution<std::uint16_t> any(20'000, 31'999);
  asio::io_context io;
  std::vector<tcp::acceptor> held;  // a port is kept until all three are found
  std::array<std::uint16_t, 3> ports{};
  for (int tried = 0; tried < 1'000 && held.size() < ports.size(); ++tried) {
    const std::uint16_t port = any(device);
    tcp::acceptor socket(io, tcp::v4());
    ErrorCode error;
    socket.bind({asio::ip::address_v4::loopback(), port}, error);
    if (error) continue;
    ports.at(held.size()) = port;
    held.push_back(std::move(socket));
  }
  if (held.size() < ports.size())
    throw std::runtime_error("127.0.0.1: found no three free ports between 20000 and 31999");
  return ports;
}

}  // namespace trefoil::net
