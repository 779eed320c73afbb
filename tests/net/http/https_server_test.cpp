#include "net/http/https_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <system_error>
#include <thread>

#include "net/http/https_client.h"
#include "net/link/signature.h"

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
  CountingUpload(std::function<void()> failure, std::atomic<int>& admitted)
      : failure_(std::move(failure)), admitted_(admitted) {}
  [[nodiscard]] std::size_t PrefixBytes() const override { return 4; }
  [[nodiscard]] std::optional<HttpAnswer> Begin(std::span<const std::uint8_t> prefix) override {
    if (prefix[3] == 3) return {};
    return HttpAnswer{.status = 403, .body = "another prefix"};
  }
  [[nodiscard]] std::optional<HttpAnswer> Admitted() override {
    ++admitted_;
    return {};
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
  std::uint64_t count_ = 0;
};

class HttpsServerTest : public testing::Test {
 protected:
  void Serve(
      const HttpsLimits& limits, const std::function<void()>& failure = [] {}) {
    server_.emplace(HttpsServerConfig{
        .host = "127.0.0.1",
        .port = 0,
        .identity = ServerIdentity(),
        .limits = limits,
        .log = [](const std::string&) {},
        .open = [failure, this](
                    const UploadHead&) { return std::make_unique<CountingUpload>(failure, admitted_); }});
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

  std::atomic<int> admitted_{0};
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

TEST_F(HttpsServerTest, WaitsSoLongForAPiece) {
  Serve({.piece = std::chrono::milliseconds(100)});
  EXPECT_THROW((void)Send([](std::uint64_t at) {
                 if (at > 0) std::this_thread::sleep_for(std::chrono::milliseconds(500));
               }),
               HttpsError);
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
