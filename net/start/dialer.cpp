#include "net/start/dialer.h"

#include <algorithm>
#include <utility>

#include "net/mesh/wording.h"

namespace trefoil::net {
namespace {

// Growing by a quarter, a pause is 20 ms and a quarter of all pauses before it, at most: so much later than
// its peer starts may a party find it.
constexpr std::chrono::milliseconds kFirstPause{20};
constexpr std::chrono::milliseconds kLongestPause{1000};

}  // namespace

Dialer::Dialer(asio::io_context& io, PeerEndpoint peer, std::shared_ptr<const TlsContext> tls,
               std::chrono::milliseconds deadline, ChannelHandler on_channel, FailureHandler on_failure)
    : io_(io),
      peer_(std::move(peer)),
      tls_(std::move(tls)),
      patience_(deadline),
      on_channel_(std::move(on_channel)),
      on_failure_(std::move(on_failure)),
      resolver_(io),
      socket_(io),
      deadline_(io),
      pause_(io),
      next_pause_(kFirstPause) {}

void Dialer::Dial() {
  if (stopped_) return;
  resolver_.async_resolve(peer_.host, std::to_string(peer_.port),
                          [this](const ErrorCode& error, const tcp::resolver::results_type& addresses) {
                            if (stopped_) return;
                            if (error) return Fail(Stage::kResolve, DescribeError(error));
                            Connect(addresses);
                          });
}

void Dialer::DialLater() {
  if (stopped_) return;
  pause_.expires_after(next_pause_);
  next_pause_ = std::min(next_pause_ * 5 / 4, kLongestPause);
  pause_.async_wait([this](const ErrorCode& cancelled) {
    if (!cancelled) Dial();
  });
}

void Dialer::Stop() {
  stopped_ = true;
  resolver_.cancel();
  deadline_.cancel();
  pause_.cancel();
  ErrorCode ignored;
  socket_.close(ignored);
  if (const auto channel = securing_.lock()) channel->Drop();
}

void Dialer::Connect(const tcp::resolver::results_type& addresses) {
  deadline_.expires_after(patience_);
  deadline_.async_wait([this](const ErrorCode& cancelled) {
    ErrorCode ignored;
    if (!cancelled) socket_.close(ignored);
  });
  asio::async_connect(socket_, addresses, [this](const ErrorCode& error, const tcp::endpoint&) {
    if (stopped_) return;
    const bool too_late = deadline_.cancel() == 0;
    if (too_late)
      return Fail(Stage::kConnect,
                  "no answer within " + DescribeDuration(patience_) + " (timeouts.handshake)");
    if (error) return Fail(Stage::kConnect, DescribeError(error));
    Secure();
  });
}

void Dialer::Secure() {
  std::shared_ptr<Channel> channel;
  try {
    channel = std::make_shared<Channel>(std::exchange(socket_, tcp::socket(io_)), tls_, TlsRole::kClient);
  } catch (const TlsError& error) {
    return Fail(Stage::kSecure, error.what());
  }
  securing_ = channel;
  channel->Secure(patience_, [this, weak = securing_](const std::string& failure) {
    const auto secured = weak.lock();
    securing_.reset();
    if (stopped_ || !secured) return;
    if (!failure.empty()) return Fail(Stage::kSecure, failure);
    on_channel_(secured);
  });
}

void Dialer::Fail(Stage stage, const std::string& cause) {
  DialLater();
  on_failure_(stage, cause);
}

}  // namespace trefoil::net
