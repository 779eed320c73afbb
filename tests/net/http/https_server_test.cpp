#include "net/http/https_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <future>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "net/certificates/signature.h"
#include "net/http/https_client.h"
#include "net/link/asio.h"
#include "tests/net/http/no_more_files.h"

namespace trefoil::net {
namespace {

using testing::HasSubstr;

constexpr std::uint64_t kBytes = 200'000;

const Identity& ServerIdentity() {
  static const auto kIdentity = MakeIdentity("server");
  return kIdentity;
}

/// Counts bytes. Throws `failure` where they come.
class CountingUpload final : public Upload {
 public:
  CountingUpload(std::function<void()> failure, std::atomic<int>& admitted, std::atomic<int>& refused)
      : failure_(std::move(failure)), admitted_(admitted), refused_(refused) {}
  [[nodiscard]] std::size_t PrefixBytes() const override { return 4; }
  [[nodiscard]] std::optional<HttpAnswer> Begin(std::span<const std::uint8_t> prefix) override {
    if (prefix[3] == 3) return {};
    return HttpAnswer{.status = 403, .body = "another prefix"};
  }
  [[nodiscard]] std::optional<HttpAnswer> Admitted() override {
    ++admitted_;
    if (refused_-- <= 0) return {};
    return HttpAnswer{.status = 503, .body = "no place for this one"};
  }
  [[nodiscard]] std::optional<HttpAnswer> Take(std::span<const std::uint8_t> piece) override {
    failure_();
    count_ += piece.size();
    return {};
  }
  [[nodiscard]] HttpAnswer End() override { return {.status = 201, .body = std::to_string(count_)}; }

 private:
  std::function<void()> failure_;
  std::atomic<int>& admitted_;
  std::atomic<int>& refused_;
  std::uint64_t count_ = 0;
};

class HttpsServerTest : public testing::Test {
 protected:
  void Serve(
      const HttpsLimits& limits, const std::function<void()>& failure = [] {}) {
    server_.emplace(HttpsServerConfig{.host = "127.0.0.1",
                                      .port = 0,
                                      .identity = ServerIdentity(),
                                      .limits = limits,
                                      .log =
                                          [this](const std::string& line) {
                                            if (!said_) first_line_.set_value(line);
                                            said_ = true;
                                          },
                                      .open =
                                          [failure, this](const UploadHead&) {
                                            return std::make_unique<CountingUpload>(failure, admitted_,
                                                                                    refused_);
                                          }});
  }
  /// Sends bytes 0, 1, 2 …; `before` is called before each piece.
  [[nodiscard]] HttpsReply Send(
      const std::function<void(std::uint64_t)>& before = [](std::uint64_t) {}, std::uint8_t first = 0) const {
    const HttpsPeer peer{.host = "127.0.0.1",
                         .port = server_->port(),
                         .fingerprint = Fingerprint(ServerIdentity().certificate_pem)};
    return Post(peer, "/", {.bytes = kBytes, .read = [&](std::uint64_t at, std::span<std::uint8_t> out) {
                              before(at);
                              for (auto& byte : out) byte = static_cast<std::uint8_t>(first + at++);
                            }});
  }

  /// The first line of the server's log, which it writes in its own time.
  [[nodiscard]] std::string FirstLine() {
    auto line = first_line_.get_future();
    return line.wait_for(std::chrono::seconds(30)) == std::future_status::ready ? line.get() : "none";
  }
  [[nodiscard]] asio::ip::tcp::endpoint Place() const {
    return {asio::ip::make_address("127.0.0.1"), server_->port()};
  }

  std::atomic<int> admitted_{0};
  std::atomic<int> refused_{0};  ///< how many of the next ones are answered where they are admitted
  std::promise<std::string> first_line_;
  std::atomic<bool> said_{false};
  std::optional<HttpsServer> server_;
};

TEST_F(HttpsServerTest, TakesABodyInPieces) {
  Serve({});
  const auto reply = Send();
  EXPECT_EQ(reply.status, 201U);
  EXPECT_EQ(reply.body, std::to_string(kBytes - 4));
}

TEST_F(HttpsServerTest, EndsARequestByItsPrefix) {
  Serve({});
  // The client may see the answer, or that nobody reads what it sends.
  try {
    EXPECT_EQ(Send([](std::uint64_t) {}, 1).status, 403U);
  } catch (const HttpsError&) {
  }
  EXPECT_EQ(Send().status, 201U);
}

TEST_F(HttpsServerTest, TakesSoManyBodiesAtOnce) {
  Serve({.uploads = 1});
  unsigned second = 0;
  const auto reply = Send([&](std::uint64_t at) {
    if (at == 0 || second != 0) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));  // until the first piece is there
    try {
      second = Send().status;
    } catch (const HttpsError&) {
      second = 503;
    }
  });
  EXPECT_EQ(second, 503U);
  EXPECT_EQ(reply.status, 201U);
  EXPECT_EQ(admitted_, 1);
}

TEST_F(HttpsServerTest, LeavesThePlaceOfWhatIsAnsweredToAnother) {
  Serve({.uploads = 1});
  refused_ = 1;
  unsigned second = 0;
  try {
    (void)Send([&](std::uint64_t at) {
      if (at == 0 || second != 0) return;
      while (admitted_ == 0) std::this_thread::sleep_for(std::chrono::milliseconds(5));
      second = Send().status;  // while the first one is still connected
    });
  } catch (const HttpsError&) {  // which may see the answer, or that nobody reads what it sends
  }
  EXPECT_EQ(second, 201U);
}

TEST_F(HttpsServerTest, WaitsSoLongForAPiece) {
  Serve({.piece = std::chrono::milliseconds(100)});
  EXPECT_THROW((void)Send([](std::uint64_t at) {
                 if (at > 0) std::this_thread::sleep_for(std::chrono::milliseconds(500));
               }),
               HttpsError);
  EXPECT_EQ(Send().status, 201U);
}

TEST_F(HttpsServerTest, CountsADroppedConnectionForItsOwnAddress) {
  Serve({});
  asio::io_context io;
  std::vector<asio::ip::tcp::socket> sockets;
  // The places of strangers, of which four addresses have all; one of theirs goes for a fifth one's.
  for (int k = 0; k < 65; ++k) {
    auto& socket = sockets.emplace_back(io);
    socket.open(asio::ip::tcp::v4());
    socket.bind({asio::ip::make_address("127.0.2." + std::to_string(1 + k / 16)), 0});
    socket.connect(Place());
  }
  const auto line = FirstLine();
  EXPECT_THAT(line, testing::MatchesRegex(".*handshake: 1, of which 1 from 127\\.0\\.2\\.[1-4]:.*"));
}

TEST_F(HttpsServerTest, SaysThatItCannotAcceptAConnection) {
  Serve({});
  asio::io_context io;
  asio::ip::tcp::socket socket(io);
  socket.open(asio::ip::tcp::v4());
  {
    const NoMoreFiles limit;
    socket.connect(Place());
    EXPECT_THAT(FirstLine(), testing::StartsWith("cannot accept a connection: "));
  }
  EXPECT_EQ(Send().status, 201U);
}

TEST_F(HttpsServerTest, SaysThatItFailed) {
  std::atomic<int> failing{0};
  Serve({}, [&] {
    if (failing == 1) throw std::runtime_error("planted");
    if (failing == 2) throw std::system_error(ENOSPC, std::generic_category());
  });
  for (const auto& [kind, status] : {std::pair(1, 500U), std::pair(2, 507U)}) {
    failing = kind;
    try {
      const auto reply = Send();
      EXPECT_EQ(reply.status, status);
      EXPECT_THAT(reply.body, HasSubstr("\"status\":" + std::to_string(status)));
      EXPECT_THAT(reply.body, testing::Not(HasSubstr("planted")));
    } catch (const HttpsError&) {
    }
  }
  failing = 0;
  EXPECT_EQ(Send().status, 201U);
}

TEST(SignatureTest, HoldsForOneTextAndKey) {
  const auto& identity = ServerIdentity();
  const auto signature = SignWith(identity, "a text");
  EXPECT_TRUE(IsSignedBy(identity.certificate_pem, "a text", signature));
  EXPECT_FALSE(IsSignedBy(identity.certificate_pem, "another", signature));
  EXPECT_FALSE(IsSignedBy(identity.certificate_pem, "a text", ""));
  EXPECT_FALSE(IsSignedBy(MakeIdentity("server").certificate_pem, "a text", signature));
}

}  // namespace
}  // namespace trefoil::net
