#include "net/http/http_endpoint.h"

#include <array>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/files/regular_file.h"
#include "base/secrets/random.h"
#include "net/link/asio.h"
#include "net/link/io_thread.h"
#include "net/mesh/wording.h"
#include "net/start/listener.h"

// Behind net/link/asio.h, which makes Asio fit to be included.
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>

namespace trefoil::net {
namespace {

namespace beast = boost::beast;
namespace http = beast::http;

constexpr std::size_t kMaxConnections = 16;
constexpr std::chrono::seconds kDeadline{5};
constexpr const char* kOfErrors = "errors";  // what lines are about, for the limiter
constexpr const char* kOfDropped = "dropped";

/// Whether a request's Host, which may have a port, is what no other site can have been given.
bool NamesNoOtherSite(beast::string_view host) {
  const bool bracketed = host.starts_with('[');
  if (bracketed) host.remove_prefix(1);
  const auto name = host.substr(0, host.find(bracketed ? ']' : ':'));
  return beast::iequals(name, "localhost") || IsAddress(std::string(name));
}

HttpAnswer AnswerTo(const http::request<http::empty_body>& request, const HttpEndpoint::Handler& handler) {
  if (request.method() != http::verb::get && request.method() != http::verb::head)
    return {.status = 405, .body = "GET only\n"};
  try {
    const std::string target(request.target());
    auto answer = handler(target.substr(0, target.find('?')));
    if (answer.policy.empty() || NamesNoOtherSite(request[http::field::host])) return answer;
    return {.status = 403, .body = "found a name as Host, expected an address in figures or localhost\n"};
  } catch (const std::exception&) {  // for lack of memory: the job matters more than this page
    return {.status = 500, .body = "no answer\n"};
  }
}

/// One request and its answer. Keeps itself alive while an operation is under way.
class Exchange : public std::enable_shared_from_this<Exchange> {
 public:
  Exchange(tcp::socket socket, const HttpEndpoint::Handler& handler)
      : stream_(std::move(socket)), handler_(handler) {
    parser_.header_limit(kMaxHeaderBytes);
    parser_.body_limit(0);
  }

  void Start() {
    stream_.expires_after(kDeadline);
    http::async_read(stream_, buffer_, parser_,
                     [self = shared_from_this()](const beast::error_code& error, std::size_t) {
                       if (!error) self->Answer();
                     });
  }

  void Drop() { stream_.close(); }

 private:
  void Answer() {
    const auto& request = parser_.get();
    const HttpAnswer answer = AnswerTo(request, handler_);
    response_.result(answer.status);
    response_.version(request.version());
    response_.set(http::field::content_type, answer.type);
    response_.set(http::field::connection, "close");
    if (!answer.policy.empty()) Guard(answer.policy);
    response_.content_length(answer.body.size());
    if (request.method() != http::verb::head) response_.body() = answer.body;
    http::async_write(stream_, serializer_,
                      [self = shared_from_this()](const beast::error_code&, std::size_t) { self->Drop(); });
  }

  void Guard(const std::string& policy) {
    response_.set("Content-Security-Policy", policy);
    response_.set("Cross-Origin-Resource-Policy", "same-origin");
    response_.set("Referrer-Policy", "no-referrer");
    response_.set("X-Content-Type-Options", "nosniff");
    response_.set(http::field::cache_control, "no-store");
  }

  beast::tcp_stream stream_;
  const HttpEndpoint::Handler& handler_;
  beast::flat_buffer buffer_{kMaxHeaderBytes};
  http::request_parser<http::empty_body> parser_;
  http::response<http::string_body> response_;
  http::response_serializer<http::string_body> serializer_{response_};
};

}  // namespace

bool IsLoopback(const std::string& host) {
  ErrorCode error;
  const auto address = asio::ip::make_address(host, error);
  return !error && address.is_loopback();
}

bool IsAddress(const std::string& host) {
  ErrorCode error;
  (void)asio::ip::make_address(host, error);
  return !error;
}

class HttpEndpoint::Server {
 public:
  Server(const tcp::endpoint& endpoint, Handler handler, Log log)
      : handler_(std::move(handler)), log_(std::move(log)), acceptor_(io_.context()), pause_(io_.context()) {
    ErrorCode error;
    acceptor_.open(endpoint.protocol(), error);
    if (!error) acceptor_.set_option(tcp::acceptor::reuse_address(true), error);
    if (!error) acceptor_.bind(endpoint, error);
    if (!error) acceptor_.listen(tcp::acceptor::max_listen_connections, error);
    const auto cause = "cannot listen on " + endpoint.address().to_string() + ":" +
                       std::to_string(endpoint.port()) + ": " + DescribeError(error);
    if (error == asio::error::address_in_use) throw PortTaken(cause);
    if (error) throw ConfigError(cause);
    port_ = acceptor_.local_endpoint().port();
    asio::post(io_.context(), [this] { Accept(); });
  }

  ~Server() {
    asio::post(io_.context(), [this] {
      ErrorCode ignored;
      acceptor_.close(ignored);
      pause_.cancel();
      for (const auto& one : exchanges_) {
        if (const auto exchange = one.lock()) exchange->Drop();
      }
      SayDropped();
    });
    io_.Drain(kDeadline);
  }

  [[nodiscard]] std::uint16_t port() const { return port_; }

 private:
  void Accept() {
    acceptor_.async_accept([this](const ErrorCode& error, tcp::socket socket) {
      if (!acceptor_.is_open()) return;
      if (!error) {
        Take(std::move(socket));
        return Accept();
      }
      // Out of file descriptors, most likely.
      if (limiter_.Allow(kOfErrors, LogLimiter::Clock::now()))
        Say("the page of [metrics] cannot accept a connection: " + DescribeErrno(error.value()));
      pause_.expires_after(kPauseAfterError);
      pause_.async_wait([this](const ErrorCode& cancelled) {
        if (!cancelled && acceptor_.is_open()) Accept();
      });
    });
  }

  void Take(tcp::socket socket) {
    std::erase_if(exchanges_, [](const auto& one) { return one.expired(); });
    if (exchanges_.size() >= kMaxConnections) DropOne();
    const auto exchange = std::make_shared<Exchange>(std::move(socket), handler_);
    exchanges_.push_back(exchange);
    exchange->Start();
  }

  void DropOne() {
    std::array<std::uint8_t, sizeof(std::uint64_t)> draw{};
    FillRandom(draw);
    const auto place = exchanges_.begin() +
                       static_cast<std::ptrdiff_t>(std::bit_cast<std::uint64_t>(draw) % exchanges_.size());
    if (const auto drawn = place->lock()) drawn->Drop();
    exchanges_.erase(place);
    ++unsaid_;
    if (limiter_.Allow(kOfDropped, LogLimiter::Clock::now())) SayDropped();
  }

  void SayDropped() {
    if (unsaid_ == 0) return;
    Say("dropped connections to the page of [metrics]: " + std::to_string(std::exchange(unsaid_, 0)) +
        ": more came at once than the " + std::to_string(kMaxConnections) + " that it keeps");
  }

  void Say(const std::string& line) const {
    if (log_) log_(line);
  }

  Handler handler_;
  Log log_;
  LogLimiter limiter_;
  std::uint64_t unsaid_ = 0;  // dropped, since the last line about it
  IoThread io_;
  tcp::acceptor acceptor_;
  asio::steady_timer pause_;
  std::vector<std::weak_ptr<Exchange>> exchanges_;
  std::uint16_t port_ = 0;
};

HttpEndpoint::HttpEndpoint(const std::string& host, std::uint16_t port, Handler handler, Log log) {
  Require(IsAddress(host), "HttpEndpoint: an address in figures");
  server_ = std::make_unique<Server>(tcp::endpoint(asio::ip::make_address(host), port), std::move(handler),
                                     std::move(log));
}

HttpEndpoint::~HttpEndpoint() = default;

std::uint16_t HttpEndpoint::port() const { return server_->port(); }

}  // namespace trefoil::net
