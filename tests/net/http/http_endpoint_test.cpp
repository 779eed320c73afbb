#include "net/http/http_endpoint.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/passing_error.h"
#include "net/link/asio.h"
#include "tests/net/http/no_more_files.h"

// Behind net/link/asio.h, which makes Asio fit to be included.
#include <boost/asio/read.hpp>

namespace trefoil::net {
namespace {

using testing::ElementsAre;
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
  /// Whether the server has not closed it yet, nor sent anything.
  bool Open() {
    ErrorCode error;
    socket_.non_blocking(true, error);
    char byte = 0;
    (void)socket_.read_some(asio::buffer(&byte, 1), error);
    return error == asio::error::would_block;
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
  for (const char* host : {"127.0.0.1:9100", "[::1]:9100", "[::1]", "10.0.0.1", "[fe80::1]:9100",
                           "localhost:9100", "LOCALHOST"}) {
    const auto page = Ask(endpoint, std::string("GET / HTTP/1.1\r\nHost: ") + host + "\r\n\r\n");
    EXPECT_THAT(page, StartsWith("HTTP/1.1 200 OK\r\n")) << host;
    EXPECT_THAT(page, HasSubstr("Content-Type: text/html\r\n")) << host;
    EXPECT_THAT(page, HasSubstr("Content-Security-Policy: default-src 'none'\r\n")) << host;
    EXPECT_THAT(page, HasSubstr("Cross-Origin-Resource-Policy: same-origin\r\n")) << host;
    EXPECT_THAT(page, HasSubstr("X-Content-Type-Options: nosniff\r\n")) << host;
    EXPECT_THAT(page, HasSubstr("Cache-Control: no-store\r\n")) << host;
  }
  for (const char* host : {"evil.example", "evil.example:9100", "localhost.evil.example",
                           "10.0.0.1.evil.example", "[", ":9100", ""}) {
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

TEST(HttpEndpoint, DrawsWhichOfManyConnectionsGoes) {
  constexpr int kSilent = 100;
  constexpr int kPlaces = 16;
  std::vector<std::string> lines;
  {
    const HttpEndpoint endpoint("127.0.0.1", 0, &Pages,
                                [&](const std::string& line) { lines.push_back(line); });
    std::vector<std::unique_ptr<Client>> silent;
    for (int k = 0; k < kSilent; ++k) silent.push_back(std::make_unique<Client>(endpoint.port()));
    EXPECT_THAT(Ask(endpoint, "GET /metrics HTTP/1.1\r\n\r\n"), EndsWith("trefoil_step 7\n"));
    // The newest 16 alone are left with probability 16! / 16^16 (1 + 2 + ... + 16) / 16, which is 1 in
    // 100,000.
    EXPECT_TRUE(std::any_of(silent.begin(), silent.end() - kPlaces,
                            [](const std::unique_ptr<Client>& client) { return client->Open(); }));
  }
  // All that were dropped are counted, the first in a line at once, the others in one at the end.
  const auto line_of = [](int count) {
    return "dropped connections to the page of [metrics]: " + std::to_string(count) +
           ": more came at once than the 16 that it keeps";
  };
  EXPECT_THAT(lines, ElementsAre(line_of(1), line_of(kSilent + 1 - kPlaces - 1)));
}

TEST(HttpEndpoint, SaysThatItCannotAcceptAConnectionAndTakesItLater) {
  std::promise<std::string> said;
  const HttpEndpoint endpoint("127.0.0.1", 0, &Pages, [&](const std::string& line) { said.set_value(line); });
  asio::io_context io;
  tcp::socket socket(io);
  socket.open(tcp::v4());
  auto line = said.get_future();
  {
    const NoMoreFiles limit;
    socket.connect({asio::ip::make_address("127.0.0.1"), endpoint.port()});
    ASSERT_EQ(line.wait_for(std::chrono::seconds(30)), std::future_status::ready);
  }
  EXPECT_THAT(line.get(),
              StartsWith("the page of [metrics] cannot accept a connection: Too many open files"));
  asio::write(socket, asio::buffer(std::string("GET /metrics HTTP/1.1\r\n\r\n")));
  std::string text;
  ErrorCode ended;
  asio::read(socket, asio::dynamic_buffer(text), ended);
  EXPECT_THAT(text, EndsWith("trefoil_step 7\n"));
}

TEST(HttpEndpoint, ListensAtAnAddress) {
  for (const char* host : {"127.0.0.1", "127.1.2.3", "::1"}) EXPECT_TRUE(IsLoopback(host)) << host;
  for (const char* host : {"0.0.0.0", "10.0.0.1", "::"}) {
    EXPECT_FALSE(IsLoopback(host)) << host;
    EXPECT_TRUE(IsAddress(host)) << host;
  }
  for (const char* host : {"localhost", "no address", ""}) {
    EXPECT_FALSE(IsLoopback(host) || IsAddress(host)) << host;
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
