#pragma once
#include <string>
#include <vector>

#include "net/link/asio.h"

namespace trefoil::net {

/// An address in digits. An IPv4 address that came as an IPv6 one ("::ffff:10.0.0.1") is written as IPv4.
[[nodiscard]] std::string AddressText(const asio::ip::address& address);

/// The addresses that some hosts have now. Names are looked up by Start and then again half a minute after
/// each round, until Stop, since a name may get its address late. What was found stays until a look-up finds
/// another. All calls are made on the I/O thread; the object must outlive its operations.
class PeerAddresses {
 public:
  /// `hosts`: names, or addresses in digits, which are known at once and never looked up.
  PeerAddresses(asio::io_context& io, const std::vector<std::string>& hosts);

  void Start();
  void Stop();
  /// Whether one of the hosts has this address (an AddressText).
  [[nodiscard]] bool Contain(const std::string& address) const;

 private:
  struct Host {
    std::string name;
    std::vector<std::string> addresses;
    bool is_address = false;
  };
  void LookUp(std::size_t index);

  std::vector<Host> hosts_;
  tcp::resolver resolver_;
  asio::steady_timer pause_;
  bool stopped_ = false;
};

}  // namespace trefoil::net
