#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "net/certificates/certificate.h"
#include "net/http/http_endpoint.h"

namespace trefoil::net {

/// What a request says before its body.
struct UploadHead {
  std::string target{};          ///< the path, without a query
  std::uint64_t body_bytes = 0;  ///< Content-Length
  std::uint64_t offset = 0;      ///< Upload-Offset; 0 where there is none
  std::string address{};         ///< who sends it
};

/// What becomes of one request's body, which comes in pieces. Destroyed when the connection has ended, which
/// may be at any time. What a function throws becomes an answer of status 500, or 507 for lack of storage.
class Upload {
 public:
  /// The most that PrefixBytes() may say.
  static constexpr std::size_t kMostPrefix = 512;

  virtual ~Upload() = default;
  /// With how many bytes the body must begin.
  [[nodiscard]] virtual std::size_t PrefixBytes() const = 0;
  /// These bytes, in memory that was there before. An answer ends the request; without one its sender counts
  /// as known.
  [[nodiscard]] virtual std::optional<HttpAnswer> Begin(std::span<const std::uint8_t> prefix) = 0;
  /// Behind Begin(), where the server has a place for the request: what it needs it takes here, not before.
  /// An answer ends it.
  [[nodiscard]] virtual std::optional<HttpAnswer> Admitted() { return {}; }
  /// The next bytes behind them. An answer ends the request.
  [[nodiscard]] virtual std::optional<HttpAnswer> Take(std::span<const std::uint8_t> piece) = 0;
  /// The answer, once all came. Called in the server's second thread, one at a time; it may take long.
  [[nodiscard]] virtual HttpAnswer End() = 0;
};

/// What a server may spend. The connections of senders that are not known yet are limited as
/// HalfOpenConnections says (net/start/half_open.h).
struct HttpsLimits {
  std::chrono::milliseconds unknown{10'000};  ///< a connection until its sender is known: TLS, header, prefix
  std::chrono::milliseconds piece{30'000};    ///< for each piece of a known sender's body
  std::size_t piece_bytes = std::size_t{1} << 16;
  std::size_t uploads = 16;  ///< bodies of known senders at the same time; more are answered with status 503
};

struct HttpsServerConfig {
  std::string host{};
  std::uint16_t port = 0;  ///< 0: a free one
  Identity identity{};
  HttpsLimits limits{};
  std::function<void(const std::string& line)> log{};
  /// Whom a request is for; nothing where it names nothing that is here.
  std::function<std::unique_ptr<Upload>(const UploadHead& head)> open{};
};

/// A small HTTPS server that takes uploads: TLS 1.3, its own certificate, nobody else's asked for; POST with
/// a Content-Length, one request a connection, at most 8 KiB of header. Memory: about 100 KiB a connection,
/// one piece more for each known sender. It runs in two threads of its own until it is destroyed, which waits
/// for an End() that is under way. `open`, Begin(), Admitted() and Take() are called in the first one.
class HttpsServer {
 public:
  /// Throws ConfigError if the port cannot be opened or the identity not be used, as OpenPort and
  /// UseIdentity.
  explicit HttpsServer(HttpsServerConfig config);
  ~HttpsServer();
  HttpsServer(const HttpsServer&) = delete;
  HttpsServer& operator=(const HttpsServer&) = delete;

  [[nodiscard]] std::uint16_t port() const;

 private:
  class Server;
  std::unique_ptr<Server> server_;
};

}  // namespace trefoil::net
