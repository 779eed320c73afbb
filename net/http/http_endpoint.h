#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace trefoil::net {

/// Of a request without its body.
inline constexpr std::uint32_t kMaxHeaderBytes = 8192;

/// What a page answers.
struct HttpAnswer {
  unsigned status = 200;
  std::string body;
  std::string type = "text/plain; version=0.0.4; charset=utf-8";  ///< Content-Type
  std::string policy{};  ///< Content-Security-Policy of what is for a browser; empty: it is for programs
};

/// Whether `host` is an address of this machine alone, in figures: 127.0.0.1, ::1.
[[nodiscard]] bool IsLoopback(const std::string& host);

/// Whether `host` is an address in figures, and no name.
[[nodiscard]] bool IsAddress(const std::string& host);

/// A small HTTP/1.1 server: GET and HEAD, one request a connection, at most sixteen connections at once, each
/// for at most five seconds and with at most 8 KiB of request. Where one more comes, one of the sixteen is
/// drawn and gives way, so that whoever keeps them busy does not always win; how many did is logged, at most
/// once a minute and at the end. It runs in a thread of its own until it is destroyed.
///
/// What is for a browser (HttpAnswer::policy) may not be kept, framed or read by pages of other sites, and is
/// refused with status 403 where Host is neither an address in figures nor localhost: a site whose name has
/// been made to lead to this machine (DNS rebinding) would be taken for this one.
class HttpEndpoint {
 public:
  /// Called in the endpoint's thread with the path of the request, as "/metrics", without a query. What it
  /// throws becomes an answer of status 500.
  using Handler = std::function<HttpAnswer(const std::string& path)>;
  /// Takes a line for the log, in the endpoint's thread.
  using Log = std::function<void(const std::string& line)>;

  /// Pre: IsAddress(host). `port` 0: a free one.
  /// Throws ConfigError if the port cannot be opened.
  HttpEndpoint(const std::string& host, std::uint16_t port, Handler handler, Log log = {});
  ~HttpEndpoint();
  HttpEndpoint(const HttpEndpoint&) = delete;
  HttpEndpoint& operator=(const HttpEndpoint&) = delete;

  [[nodiscard]] std::uint16_t port() const;

 private:
  class Server;
  std::unique_ptr<Server> server_;
};

}  // namespace trefoil::net
