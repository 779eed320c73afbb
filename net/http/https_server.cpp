#include "net/http/https_server.h"

#include <array>
#include <bit>
#include <charconv>
#include <exception>
#include <limits>
#include <utility>
#include <vector>

#include "base/error_report.h"
#include "base/files/regular_file.h"
#include "base/secrets/random.h"
#include "net/http/problem.h"
#include "net/link/asio.h"
#include "net/link/io_thread.h"
#include "net/link/tls_settings.h"
#include "net/start/half_open.h"
#include "net/start/listener.h"
#include "net/start/peer_addresses.h"

// Behind net/link/asio.h, which makes Asio fit to be included.
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl.hpp>

namespace trefoil::net {
namespace {

namespace beast = boost::beast;
namespace http = beast::http;

constexpr std::chrono::seconds kAnswerLimit{5};

/// What connections ask of their server.
class Host {
 public:
  virtual ~Host() = default;
  [[nodiscard]] virtual const HttpsServerConfig& config() const = 0;
  /// Whether the connection, whose sender is known now, may go on.
  virtual bool Admit(const std::shared_ptr<void>& connection) = 0;
  /// Gives the place of an admitted connection to another one.
  virtual void Leave(const void* connection) = 0;
  /// Does work in the second thread.
  virtual void Work(std::function<void()> work) = 0;
};

std::optional<std::uint64_t> NumberIn(beast::string_view text) {
  if (text.empty()) return 0;
  std::uint64_t number = 0;
  const auto* end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  if (read.ec != std::errc() || read.ptr != end) return {};
  return number;
}

/// One request and its answer. Keeps itself alive while an operation is under way.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(tcp::socket socket, asio::ssl::context& tls, Host& host, std::string address)
      : stream_(std::move(socket), tls), host_(host), address_(std::move(address)) {
    parser_.header_limit(kMaxHeaderBytes);
    parser_.body_limit(std::numeric_limits<std::uint64_t>::max());  // the upload says which is too long
  }

  void Start() {
    Tcp().expires_after(host_.config().limits.unknown);
    stream_.async_handshake(asio::ssl::stream_base::server,
                            [self = shared_from_this()](const ErrorCode& error) {
                              if (!error) self->ReadHead();
                            });
  }

  [[nodiscard]] const std::string& address() const { return address_; }
  void Drop() { Tcp().close(); }
  void DropUnlessAnswering() {
    if (!answering_) Drop();
  }

 private:
  using Next = void (Connection::*)();

  beast::tcp_stream& Tcp() { return beast::get_lowest_layer(stream_); }

  void ReadHead() {
    http::async_read_header(stream_, buffer_, parser_,
                            [self = shared_from_this()](const ErrorCode& error, std::size_t) {
                              if (!error) self->Try(&Connection::OnHead);
                            });
  }

  void OnHead() {
    const auto& request = parser_.get();
    if (request.method() != http::verb::post)
      return Answer(Problem(405, "found another method, expected POST"));
    const auto length = parser_.content_length();
    if (!length || parser_.chunked()) return Answer(Problem(411, "found no Content-Length, expected one"));
    const auto offset = NumberIn(request["Upload-Offset"]);
    if (!offset) return Answer(Problem(400, "Upload-Offset: found something else, expected a number"));
    const std::string target(request.target());
    upload_ = host_.config().open({.target = target.substr(0, target.find('?')),
                                   .body_bytes = *length,
                                   .offset = *offset,
                                   .address = address_});
    if (!upload_) return Answer(Problem(404, "found a path that names nothing here"));
    if (*length < upload_->PrefixBytes())
      return Answer(Problem(400, "found a body that is too short, expected all that it begins with"));
    Fill(std::span(prefix_).first(upload_->PrefixBytes()), &Connection::OnPrefix);
  }

  void OnPrefix() {
    if (const auto answer = upload_->Begin(std::span(prefix_).first(upload_->PrefixBytes())))
      return Answer(*answer);
    if (!host_.Admit(shared_from_this()))
      return Answer(Problem(503, "found as many uploads as this server takes at once; try again"));
    if (const auto answer = upload_->Admitted()) {
      host_.Leave(this);
      return Answer(*answer);
    }
    piece_.resize(host_.config().limits.piece_bytes);
    ReadPiece();
  }

  void ReadPiece() {
    if (parser_.is_done()) return Finish();
    Tcp().expires_after(host_.config().limits.piece);
    Fill(piece_, &Connection::OnPiece);
  }

  void OnPiece() {
    const auto count = piece_.size() - parser_.get().body().size;
    if (const auto answer = upload_->Take(std::span(piece_).first(count))) return Answer(*answer);
    ReadPiece();
  }

  void Finish() {
    Tcp().expires_never();
    host_.Work([self = shared_from_this()] {
      auto answer = std::make_shared<HttpAnswer>(self->EndOfUpload());
      asio::post(self->stream_.get_executor(), [self, answer] { self->Answer(*answer); });
    });
  }

  HttpAnswer EndOfUpload() {
    try {
      return upload_->End();
    } catch (const std::exception& error) {
      return Failure(error);
    }
  }

  /// Does what may throw.
  void Try(Next step) {
    try {
      (this->*step)();
    } catch (const std::exception& error) {
      Answer(Failure(error));
    }
  }

  HttpAnswer Failure(const std::exception& error) {
    host_.config().log(CauseOf(error));
    if (IsLackOfStorage(error)) return Problem(507, "found no room, expected some; try again later");
    return Problem(500, "found an error that its log tells, expected none");
  }

  /// Reads so many bytes of the body, or all that is left of it.
  void Fill(std::span<std::uint8_t> out, Next next) {
    auto& body = parser_.get().body();
    body.data = out.data();
    body.size = out.size();
    GoOnFilling(next);
  }

  void GoOnFilling(Next next) {
    if (parser_.get().body().size == 0 || parser_.is_done()) return Try(next);
    http::async_read_some(stream_, buffer_, parser_,
                          [self = shared_from_this(), next](const ErrorCode& error, std::size_t) {
                            if (!error || error == http::error::need_buffer) self->GoOnFilling(next);
                          });
  }

  void Answer(const HttpAnswer& answer) {
    answering_ = true;
    Tcp().expires_after(kAnswerLimit);
    response_.result(answer.status);
    response_.version(11);
    response_.set(http::field::content_type, answer.type);
    response_.set(http::field::cache_control, "no-store");
    response_.set(http::field::connection, "close");
    response_.content_length(answer.body.size());
    response_.body() = answer.body;
    http::async_write(stream_, serializer_, [self = shared_from_this()](const ErrorCode& error, std::size_t) {
      if (!error) self->CloseTls();
    });
  }

  void CloseTls() {
    stream_.async_shutdown([self = shared_from_this()](const ErrorCode&) {
      ErrorCode ignored;
      self->Tcp().socket().shutdown(tcp::socket::shutdown_send, ignored);
      self->ReadAway();
    });
  }

  /// So that bytes that are still under way do not reset the connection before the answer has been read.
  void ReadAway() {
    Tcp().async_read_some(asio::buffer(prefix_),
                          [self = shared_from_this()](const ErrorCode& error, std::size_t) {
                            if (!error) self->ReadAway();
                          });
  }

  beast::ssl_stream<beast::tcp_stream> stream_;
  Host& host_;
  std::string address_;
  beast::flat_buffer buffer_{kMaxHeaderBytes};
  http::request_parser<http::buffer_body> parser_;
  std::array<std::uint8_t, Upload::kMostPrefix> prefix_{};
  std::vector<std::uint8_t> piece_;
  std::unique_ptr<Upload> upload_;
  http::response<http::string_body> response_;
  http::response_serializer<http::string_body> serializer_{response_};
  bool answering_ = false;
};

}  // namespace

class HttpsServer::Server final : public Host {
 public:
  explicit Server(HttpsServerConfig config)
      : config_(std::move(config)),
        tls_(MakeTlsSettings().release()),
        acceptor_(OpenPort(io_.context(), config_.host, config_.port, "--listen")),
        pause_(io_.context()) {
    UseIdentity(tls_.native_handle(), config_.identity);
    port_ = acceptor_.local_endpoint().port();
    asio::post(io_.context(), [this] { Accept(); });
  }

  ~Server() override {
    asio::post(io_.context(), [this] {
      stopped_ = true;
      ErrorCode ignored;
      acceptor_.close(ignored);
      pause_.cancel();
    });
    worker_.Drain(std::chrono::milliseconds(0));  // an End() that is under way, and no other
    asio::post(io_.context(), [this] {
      for (const auto& one : all_) {
        if (const auto connection = one.lock()) connection->DropUnlessAnswering();
      }
      if (const auto line = dropped_.Rest(); !line.empty()) config_.log(line);
    });
    io_.Drain(kAnswerLimit);
  }

  [[nodiscard]] std::uint16_t port() const { return port_; }
  [[nodiscard]] const HttpsServerConfig& config() const override { return config_; }

  bool Admit(const std::shared_ptr<void>& connection) override {
    half_open_.Remove(connection.get());
    std::erase_if(known_, [](const auto& one) { return one.expired(); });
    if (known_.size() >= config_.limits.uploads) return false;
    known_.push_back(connection);
    return true;
  }

  void Leave(const void* connection) override {
    std::erase_if(known_, [connection](const auto& one) { return one.lock().get() == connection; });
  }

  void Work(std::function<void()> work) override { asio::post(worker_.context(), std::move(work)); }

 private:
  void Accept() {
    acceptor_.async_accept([this](const ErrorCode& error, tcp::socket socket) {
      if (stopped_) return;
      if (!error) {
        Accept();  // before what may throw where memory is short
        return Take(std::move(socket));
      }
      // Out of file descriptors, most likely: not a reason to give up, but to wait a little.
      if (limiter_.Allow("", LogLimiter::Clock::now()))
        config_.log("cannot accept a connection: " + DescribeErrno(error.value()));
      pause_.expires_after(kPauseAfterError);
      pause_.async_wait([this](const ErrorCode& cancelled) {
        if (!cancelled && !stopped_) Accept();
      });
    });
  }

  void Take(tcp::socket socket) {
    ErrorCode error;
    const auto endpoint = socket.remote_endpoint(error);
    if (error) return;  // it has gone already
    const HalfOpenConnections::Source source{.address = AddressText(endpoint.address())};
    if (!MakeRoom(source)) return;
    std::erase_if(all_, [](const auto& one) { return one.expired(); });
    std::shared_ptr<Connection> connection;
    try {
      connection = std::make_shared<Connection>(std::move(socket), tls_, *this, source.address);
    } catch (const std::exception&) {
      return;  // out of memory: the connection is dropped
    }
    half_open_.Add(source, connection);
    all_.push_back(connection);
    connection->Start();
  }

  // False if it is the new connection that has to go.
  bool MakeRoom(const HalfOpenConnections::Source& source) {
    std::array<std::uint8_t, sizeof(std::uint64_t)> draw{};
    FillRandom(draw);
    const auto gone = half_open_.MakeRoom(source, std::bit_cast<std::uint64_t>(draw));
    if (!gone) return true;
    const auto connection = std::static_pointer_cast<Connection>(gone->lock());
    const auto line =
        dropped_.Count(connection ? connection->address() : source.address, DropReport::Clock::now());
    if (!line.empty()) config_.log(line);
    if (connection) connection->Drop();
    return connection != nullptr;
  }

  HttpsServerConfig config_;
  asio::ssl::context tls_;
  IoThread io_;
  tcp::acceptor acceptor_;
  asio::steady_timer pause_;
  HalfOpenConnections half_open_;
  DropReport dropped_;
  LogLimiter limiter_;
  std::vector<std::weak_ptr<void>> known_;
  std::vector<std::weak_ptr<Connection>> all_;
  std::uint16_t port_ = 0;
  bool stopped_ = false;
  IoThread worker_;  // last: what waits in it belongs to the others
};

HttpsServer::HttpsServer(HttpsServerConfig config) : server_(std::make_unique<Server>(std::move(config))) {}

HttpsServer::~HttpsServer() = default;

std::uint16_t HttpsServer::port() const { return server_->port(); }

}  // namespace trefoil::net
