#include "net/http/http_endpoint.h"

#include <gmock/gmock.h>

#include <chrono>
#include <vector>

#include "base/error.h"
#include "base/passing_error.h"
#include "net/link/asio.h"

// Behind net/link/asio.h, which makes Asio fit to be included.
#include <boost/asio/read.hpp>

namespace trefoil::net {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

HttpAnswer Pages(const std::string& path) {
  if (path == "/metrics") return {.status = 200, .body = "trefoil_step 7\n"};
  if (path == "/readyz") return {.status = 503, .body = "waiting\n"};
  if (path == "/") return {.body = "<p>7</p>", .type = "text/html", .policy = "default-src 'none'"};
  return {.status = 404, .body = "no page " + path + "\n"};
}

/// A connection in the test's hands.
class Client {
 public:
  explicit Client(std::uint16_t port) : socket_(io_) {
    socket_.connect({asio::ip::make_address("127.0.0.1"), port});
  }
  void Send(const std::string& text) {
    ErrorCode ignored;
    asio::write(socket_, asio::buffer(text), ignored);
  }
  /// All until the server closes.
  std::string Receive() {
    std::string text;
    ErrorCode ended;
    asio::read(socket_, asio::dynamic_buffer(text), ended);
    return text;
  }

 private:
  asio::io_context io_;
  tcp::socket socket_;
};

std::string Ask(const HttpEndpoint& endpoint, const std::string& request) {
  Client client(endpoint.port());
  client.Send(request);
  return client.Receive();
}

TEST(HttpEndpoint, AnswersEachPage) {
  const HttpEndpoint endpoint("127.0.0.1", 0, &Pages);
  const auto metrics = Ask(endpoint, "GET /metrics?x=1 HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_THAT(metrics, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(metrics, HasSubstr("Content-Length: 15\r\n"));
  EXPECT_THAT(metrics, EndsWith("\r\n\r\ntrefoil_step 7\n"));
  EXPECT_THAT(Ask(endpoint, "GET /readyz HTTP/1.0\r\n\r\n"), StartsWith("HTTP/1.0 503 "));
  EXPECT_THAT(Ask(endpoint, "GET /other HTTP/1.1\r\n\r\n"), EndsWith("no page /other\n"));
  const auto head = Ask(endpoint, "HEAD /metrics HTTP/1.1\r\n\r\n");
  EXPECT_THAT(head, HasSubstr("Content-Length: 15\r\n"));
  EXPECT_THAT(head, EndsWith("\r\n\r\n"));
  EXPECT_THAT(Ask(endpoint, "DELETE /metrics HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 405 "));
}

TEST(HttpEndpoint, GuardsWhatIsForABrowser) {
  const HttpEndpoint endpoint("127.0.0.1", 0, &Pages);
  for (const char* host : {"127.0.0.1:9100", "[::1]:9100", "[::1]", "localhost:9100", "LOCALHOST"}) {
    const auto page = Ask(endpoint, std::string("GET / HTTP/1.1\r\nHost: ") + host + "\r\n\r\n");
    EXPECT_THAT(page, StartsWith("HTTP/1.1 200 OK\r\n")) << host;
    EXPECT_THAT(page, HasSubstr("Content-Type: text/html\r\n")) << host;
    EXPECT_THAT(page, HasSubstr("Content-Security-Policy: default-src 'none'\r\n")) << host;
    EXPECT_THAT(page, HasSubstr("Cross-Origin-Resource-Policy: same-origin\r\n")) << host;
    EXPECT_THAT(page, HasSubstr("X-Content-Type-Options: nosniff\r\n")) << host;
    EXPECT_THAT(page, HasSubstr("Cache-Control: no-store\r\n")) << host;
  }
  for (const char* host :
       {"evil.example", "evil.example:9100", "localhost.evil.example", "10.0.0.1", "[", ":9100", ""}) {
    const auto page = Ask(endpoint, std::string("GET / HTTP/1.1\r\nHost: ") + host + "\r\n\r\n");
    EXPECT_THAT(page, StartsWith("HTTP/1.1 403 ")) << host;
    EXPECT_THAT(page, Not(HasSubstr("<p>7"))) << host;
  }
  EXPECT_THAT(Ask(endpoint, "GET / HTTP/1.0\r\n\r\n"), StartsWith("HTTP/1.0 403 "));
  // What is for programs is as it was.
  EXPECT_THAT(Ask(endpoint, "GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n"),
              Not(HasSubstr("Content-Security-Policy")));
}

TEST(HttpEndpoint, OutlivesWhatIsNoRequest) {
  const HttpEndpoint endpoint("127.0.0.1", 0, &Pages);
  EXPECT_EQ(Ask(endpoint, "\x16\x03\x01 no request at all\r\n\r\n"), "");
  EXPECT_EQ(Ask(endpoint, "GET /metrics HTTP/1.1\r\nLong: " + std::string(20000, 'x') + "\r\n\r\n"), "");
  EXPECT_EQ(
      Ask(endpoint, "POST /metrics HTTP/1.1\r\nContent-Length: 100000\r\n\r\n" + std::string(1000, 'x')), "");
  EXPECT_THAT(Ask(endpoint, "GET /metrics HTTP/1.1\r\n\r\n"), EndsWith("trefoil_step 7\n"));
}

TEST(HttpEndpoint, LetsTheOldestOfManyConnectionsGo) {
  const HttpEndpoint endpoint("127.0.0.1", 0, &Pages);
  const auto begin = std::chrono::steady_clock::now();
  std::vector<std::unique_ptr<Client>> silent;
  for (int k = 0; k < 100; ++k) silent.push_back(std::make_unique<Client>(endpoint.port()));
  EXPECT_EQ(silent.front()->Receive(), "");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(4));  // before its five seconds
  EXPECT_THAT(Ask(endpoint, "GET /metrics HTTP/1.1\r\n\r\n"), EndsWith("trefoil_step 7\n"));
}

TEST(HttpEndpoint, ListensOnThisMachineAlone) {
  for (const char* host : {"127.0.0.1", "127.1.2.3", "::1"}) EXPECT_TRUE(IsLoopback(host)) << host;
  for (const char* host : {"0.0.0.0", "10.0.0.1", "::", "localhost", "no address", ""}) {
    EXPECT_FALSE(IsLoopback(host)) << host;
    EXPECT_THROW(HttpEndpoint(host, 0, &Pages), ContractError) << host;
  }
  const HttpEndpoint first("127.0.0.1", 0, &Pages);
  EXPECT_THROW(HttpEndpoint("127.0.0.1", first.port(), &Pages), PassingError);
}

TEST(HttpEndpoint, AnswersThatItHasNoAnswerWhereThePageThrows) {
  const HttpEndpoint endpoint("127.0.0.1", 0,
                              [](const std::string&) -> HttpAnswer { throw std::bad_alloc(); });
  EXPECT_THAT(Ask(endpoint, "GET /metrics HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 500 "));
}

}  // namespace
}  // namespace trefoil::net
