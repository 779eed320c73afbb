#pragma once
#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "net/link/asio.h"
#include "net/link/channel.h"
#include "net/link/tls_context.h"
#include "net/mesh/mesh.h"

namespace trefoil::net {

/// Connects to one peer, again and again until it is stopped, with a pause that grows from 20 ms to 1 s. All
/// functions are called on the I/O thread, and so are the handlers.
class Dialer {
 public:
  enum class Stage { kResolve, kConnect, kSecure };
  using ChannelHandler = std::function<void(const std::shared_ptr<Channel>& channel)>;
  /// After a failed attempt; the next one has been scheduled.
  using FailureHandler = std::function<void(Stage stage, const std::string& cause)>;

  /// Each attempt to connect and each TLS handshake may take `deadline`.
  Dialer(asio::io_context& io, PeerEndpoint peer, std::shared_ptr<const TlsContext> tls,
         std::chrono::milliseconds deadline, ChannelHandler on_channel, FailureHandler on_failure);

  void Dial();
  /// Dials again after the pause: the channel that was handed out is of no use any more.
  void DialLater();
  void Stop();

 private:
  void Connect(const tcp::resolver::results_type& addresses);
  void Secure();
  void Fail(Stage stage, const std::string& cause);

  asio::io_context& io_;
  PeerEndpoint peer_;
  std::shared_ptr<const TlsContext> tls_;
  std::chrono::milliseconds patience_;
  ChannelHandler on_channel_;
  FailureHandler on_failure_;
  tcp::resolver resolver_;
  tcp::socket socket_;
  asio::steady_timer deadline_;
  asio::steady_timer pause_;
  std::weak_ptr<Channel> securing_;
  std::chrono::milliseconds next_pause_;
  bool stopped_ = false;
};

}  // namespace trefoil::net
