#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/passing_error.h"
#include "net/link/asio.h"
#include "net/link/channel.h"
#include "net/link/tls_context.h"
#include "net/mesh/mesh.h"
#include "net/start/half_open.h"
#include "net/start/peer_addresses.h"

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

/// Says how many connections were dropped to make room, in at most a line a minute and a last one.
class DropReport {
 public:
  using Clock = std::chrono::steady_clock;
  /// Counts one from `address`; the line that is due now, or an empty one.
  [[nodiscard]] std::string Count(const std::string& address, Clock::time_point now);
  /// The line for what no line has said yet, or an empty one.
  [[nodiscard]] std::string Rest();
  /// Dropped so far.
  [[nodiscard]] std::uint64_t total() const { return total_; }

 private:
  Clock::time_point next_line_ = Clock::time_point::min();
  std::uint64_t total_ = 0;
  std::uint64_t unsaid_ = 0;
  std::map<std::string, std::uint64_t> unsaid_of_;
};

/// Another process listens on the port already.
class PortTaken : public PassingError {
 public:
  using PassingError::PassingError;
};

/// How long who takes connections rests after an error.
inline constexpr std::chrono::milliseconds kPauseAfterError{100};

/// A port that listens. `setting` says in errors what to correct. Throws PortTaken, or another ConfigError.
[[nodiscard]] tcp::acceptor OpenPort(asio::io_context& io, const std::string& host, std::uint16_t port,
                                     const std::string& setting);

/// Accepts connections, does TLS with them, and hands on those that show a pinned certificate. Everything
/// else is logged and refused. How many connections may be in their handshake, and which one goes where there
/// are too many, is HalfOpenConnections' to say; what goes is counted (config.on_dropped) and logged. All
/// functions but the constructor are called on the I/O thread.
class Listener {
 public:
  using ChannelHandler = std::function<void(const std::shared_ptr<Channel>& channel)>;

  /// Opens config.listen_port. `peer_hosts`: who is expected to connect. The configuration must outlive the
  /// listener. Throws PortTaken, or another ConfigError, if that fails.
  Listener(asio::io_context& io, const MeshConfig& config, const std::vector<std::string>& peer_hosts,
           std::shared_ptr<const TlsContext> tls, ChannelHandler on_channel);

  void Start();
  void Stop();

 private:
  void Accept();
  void OnAccept(tcp::socket socket);
  [[nodiscard]] bool MakeRoom(const HalfOpenConnections::Source& source);
  void OnSecured(const std::shared_ptr<Channel>& channel, const std::string& failure);

  const MeshConfig& config_;
  tcp::acceptor acceptor_;
  asio::steady_timer pause_;
  std::shared_ptr<const TlsContext> tls_;
  ChannelHandler on_channel_;
  LogLimiter limiter_;
  PeerAddresses peers_;
  HalfOpenConnections half_open_;
  DropReport dropped_;
  bool stopped_ = false;
};

}  // namespace trefoil::net
