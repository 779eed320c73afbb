#include "apps/local/free_ports.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>

namespace trefoil::apps {
namespace {

/// A socket bound to a port that the system chose; it keeps the port until it is closed.
class BoundSocket {
 public:
  BoundSocket() : descriptor_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof(address);
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    if (descriptor_ < 0 || bind(descriptor_, generic, length) != 0 ||
        getsockname(descriptor_, generic, &length) != 0) {
      const std::string cause = std::strerror(errno);
      if (descriptor_ >= 0) close(descriptor_);
      throw std::runtime_error("no free port on 127.0.0.1: " + cause);
    }
    port_ = ntohs(address.sin_port);
  }
  ~BoundSocket() { close(descriptor_); }
  BoundSocket(const BoundSocket&) = delete;
  BoundSocket& operator=(const BoundSocket&) = delete;
  [[nodiscard]] std::uint16_t port() const { return port_; }

 private:
  int descriptor_;
  std::uint16_t port_ = 0;
};

}  // namespace

std::array<std::uint16_t, 3> FreeLoopbackPorts() {
  const BoundSocket a;
  const BoundSocket b;
  const BoundSocket c;
  return {a.port(), b.port(), c.port()};
}

std::array<jobs::Address, 3> FreeLoopbackAddresses() {
  const auto ports = FreeLoopbackPorts();
  return {jobs::Address{"127.0.0.1", ports[0]}, jobs::Address{"127.0.0.1", ports[1]},
          jobs::Address{"127.0.0.1", ports[2]}};
}

}  // namespace trefoil::apps
