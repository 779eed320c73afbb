#include "net/http/https_client.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "net/certificates/certificate.h"
#include "net/link/asio.h"
#include "net/link/openssl_handles.h"
#include "net/link/tls_settings.h"
#include "net/mesh/wording.h"

// Behind net/link/asio.h, which makes Asio fit to be included.
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl.hpp>

namespace trefoil::net {
namespace {

namespace beast = boost::beast;
namespace http = beast::http;

constexpr std::size_t kPiece = std::size_t{1} << 16;

/// One connection to a server, which blocks until an operation is done or its time is over.
class Client {
 public:
  explicit Client(const HttpsPeer& peer)
      : peer_(peer), tls_(MakeTlsSettings().release()), resolver_(io_), stream_(io_, tls_) {}

  void Connect() {
    tcp::resolver::results_type found;
    Wait("look up its name", [&](const auto& done) {
      resolver_.async_resolve(peer_.host, std::to_string(peer_.port),
                              [&, done](const ErrorCode& error, tcp::resolver::results_type results) {
                                found = std::move(results);
                                done(error);
                              });
    });
    Tcp().expires_after(peer_.connect_limit);
    Wait("connect", [&](const auto& done) {
      Tcp().async_connect(found, [done](const ErrorCode& error, const tcp::endpoint&) { done(error); });
    });
    Wait("speak TLS",
         [&](const auto& done) { stream_.async_handshake(asio::ssl::stream_base::client, done); });
    CheckCertificate();
  }

  HttpsReply Exchange(const std::string& head, const HttpsBody& body) {
    ErrorCode failed = Write(asio::buffer(head));
    std::vector<std::uint8_t> piece(kPiece);
    for (std::uint64_t at = 0; at < body.bytes && !failed;) {
      const auto next = std::span(piece).first(
          static_cast<std::size_t>(std::min<std::uint64_t>(piece.size(), body.bytes - at)));
      body.read(at, next);
      failed = Write(asio::buffer(next.data(), next.size()));
      at += next.size();
      if (!failed && body.on_sent) body.on_sent(at);
    }
    // A server that wants no more has answered before it hung up.
    Tcp().expires_after(failed ? peer_.piece_limit : peer_.answer_limit);
    return Receive(failed);
  }

 private:
  beast::tcp_stream& Tcp() { return beast::get_lowest_layer(stream_); }

  /// Starts an operation, which calls what it is given with its error, and waits for it.
  template <typename Start>
  ErrorCode Run(const Start& start) {
    ErrorCode result;
    start([&result](const ErrorCode& error) { result = error; });
    io_.restart();
    io_.run();
    return result;
  }

  template <typename Start>
  void Wait(const char* what, const Start& start) {
    if (const auto error = Run(start))
      throw HttpsError(std::string("cannot ") + what + ": " + DescribeError(error));
  }

  template <typename Buffer>
  ErrorCode Write(const Buffer& buffer) {
    Tcp().expires_after(peer_.piece_limit);
    return Run([&](const auto& done) {
      asio::async_write(stream_, buffer, [done](const ErrorCode& error, std::size_t) { done(error); });
    });
  }

  HttpsReply Receive(const ErrorCode& failed) {
    beast::flat_buffer buffer;
    http::response_parser<http::string_body> parser;
    parser.body_limit(kPiece);
    const auto error = Run([&](const auto& done) {
      http::async_read(stream_, buffer, parser, [done](const ErrorCode& ended, std::size_t) { done(ended); });
    });
    if (error) throw HttpsError("the connection ended: " + DescribeError(failed ? failed : error));
    return {.status = parser.get().result_int(), .body = parser.get().body()};
  }

  void CheckCertificate() {
    const X509Ptr certificate(SSL_get1_peer_certificate(stream_.native_handle()));
    if (!certificate) throw WrongServer("found a server without a certificate");
    CertificateHash hash{};
    unsigned int size = 0;
    if (X509_digest(certificate.get(), EVP_sha256(), hash.data(), &size) != 1)
      throw WrongServer("found a certificate that cannot be hashed");
    const auto found = ShowFingerprint(hash);
    if (found != peer_.fingerprint)
      throw WrongServer("found a server with the certificate " + found + ", expected " + peer_.fingerprint);
  }

  const HttpsPeer& peer_;
  asio::io_context io_{1};
  asio::ssl::context tls_;
  tcp::resolver resolver_;
  beast::ssl_stream<beast::tcp_stream> stream_;
};

}  // namespace

HttpsReply Post(const HttpsPeer& peer, const std::string& target, const HttpsBody& body) {
  Client client(peer);
  client.Connect();
  const auto head = "POST " + target + " HTTP/1.1\r\nHost: " + peer.host +
                    "\r\nContent-Length: " + std::to_string(body.bytes) +
                    "\r\nUpload-Offset: " + std::to_string(body.offset) +
                    "\r\nContent-Type: application/octet-stream\r\nConnection: close\r\n\r\n";
  return client.Exchange(head, body);
}

}  // namespace trefoil::net
