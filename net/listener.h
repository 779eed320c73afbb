#pragma once
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/error.h"
#include "net/asio.h"
#include "net/channel.h"
#include "net/tls_context.h"

namespace trefoil::net {

/// Lets a source speak at most once per minute, so that a port scan cannot fill a disk.
class LogLimiter {
 public:
  using Clock = std::chrono::steady_clock;
  /// Whether a line about `address` may be written now.
  [[nodiscard]] bool Allow(const std::string& address, Clock::time_point now);

 private:
  std::map<std::string, Clock::time_point> last_;
};

/// Another process listens on the port already.
class PortTaken : public ConfigError {
 public:
  using ConfigError::ConfigError;
};

/// Accepts connections, does TLS with them, and hands on those that show a pinned certificate. Everything
/// else is logged and refused. At most kMaxHalfOpen connections are in their handshake: one more drops the
/// oldest, so that a real peer always gets its turn. All functions but the constructor are called on the I/O
/// thread.
class Listener {
 public:
  using ChannelHandler = std::function<void(const std::shared_ptr<Channel>& channel)>;
  using LogHandler = std::function<void(const std::string& line)>;

  static constexpr std::size_t kMaxHalfOpen = 64;

  /// Opens the port. Throws PortTaken, or another ConfigError, if that fails.
  Listener(asio::io_context& io, const std::string& host, std::uint16_t port,
           std::shared_ptr<const TlsContext> tls, std::chrono::milliseconds handshake_deadline,
           ChannelHandler on_channel, LogHandler log);

  void Start();
  void Stop();

 private:
  void Accept();
  void OnAccept(tcp::socket socket);
  void OnSecured(const std::shared_ptr<Channel>& channel, const std::string& failure);
  void ForgetHalfOpen(const Channel* channel);

  tcp::acceptor acceptor_;
  asio::steady_timer pause_;
  std::shared_ptr<const TlsContext> tls_;
  std::chrono::milliseconds handshake_deadline_;
  ChannelHandler on_channel_;
  LogHandler log_;
  LogLimiter limiter_;
  std::deque<std::weak_ptr<Channel>> half_open_;
  bool stopped_ = false;
};

}  // namespace trefoil::net
