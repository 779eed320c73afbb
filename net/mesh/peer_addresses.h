#pragma once
#include <string>
#include <vector>

#include "net/link/asio.h"

namespace trefoil::net {

/// An address in figures; one of IPv4 in that form, wherever it came in IPv6's ("::ffff:10.0.0.1").
[[nodiscard]] std::string AddressText(const asio::ip::address& address);

/// The addresses that some hosts have now: looked up when it starts and every half minute until it is
/// stopped, since a name may get its address late. What was found stays until the name has another. On the
/// I/O thread; must outlive its operations.
class PeerAddresses {
 public:
  /// Hosts by name or by address in figures; those are known at once, and never looked up.
  PeerAddresses(asio::io_context& io, const std::vector<std::string>& hosts);

  void Start();
  void Stop();
  /// Whether one of the hosts has this address (an AddressText).
  [[nodiscard]] bool Contain(const std::string& address) const;

 private:
  struct Host {
    std::string name;
    std::vector<std::string> addresses;
    bool in_figures = false;
  };
  void LookUp(std::size_t index);

  std::vector<Host> hosts_;
  tcp::resolver resolver_;
  asio::steady_timer pause_;
  bool stopped_ = false;
};

}  // namespace trefoil::net
