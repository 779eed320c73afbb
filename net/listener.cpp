#include "net/listener.h"

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace trefoil::net {
namespace {

constexpr std::chrono::minutes kQuietPerAddress{1};
constexpr std::size_t kMaxAddresses = 1024;
constexpr std::chrono::milliseconds kPauseAfterError{100};

tcp::acceptor OpenPort(asio::io_context& io, const std::string& host, std::uint16_t port) {
  const std::string place = host + ":" + std::to_string(port);
  ErrorCode error;
  const auto refuse = [&] {
    throw ConfigError("cannot listen on " + place + ": " + DescribeError(error) +
                      ": correct party.listen to an address of this machine");
  };
  tcp::resolver resolver(io);
  const auto found = resolver.resolve(host, std::to_string(port), tcp::resolver::passive, error);
  if (error) refuse();
  tcp::acceptor acceptor(io);
  const tcp::endpoint endpoint = found.begin()->endpoint();
  acceptor.open(endpoint.protocol(), error);
  if (!error) acceptor.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(tcp::acceptor::max_listen_connections, error);
  if (error == asio::error::address_in_use) {
    throw PortTaken("cannot listen on " + place + ": " + DescribeError(error) +
                    ": end what uses it, or choose another party.listen");
  }
  if (error) refuse();
  return acceptor;
}

}  // namespace

bool LogLimiter::Allow(const std::string& address, Clock::time_point now) {
  const auto expired = [&](const auto& entry) { return now - entry.second >= kQuietPerAddress; };
  if (last_.size() >= kMaxAddresses) std::erase_if(last_, expired);
  const auto entry = last_.find(address);
  if (entry != last_.end() && !expired(*entry)) return false;
  if (entry == last_.end() && last_.size() >= kMaxAddresses) return false;
  last_[address] = now;
  return true;
}

Listener::Listener(asio::io_context& io, const std::string& host, std::uint16_t port,
                   std::shared_ptr<const TlsContext> tls, std::chrono::milliseconds handshake_deadline,
                   ChannelHandler on_channel, LogHandler log)
    : acceptor_(OpenPort(io, host, port)),
      pause_(io),
      tls_(std::move(tls)),
      handshake_deadline_(handshake_deadline),
      on_channel_(std::move(on_channel)),
      log_(std::move(log)) {}

void Listener::Start() { Accept(); }

void Listener::Stop() {
  stopped_ = true;
  ErrorCode ignored;
  acceptor_.close(ignored);
  pause_.cancel();
  for (const auto& half_open : half_open_) {
    if (const auto channel = half_open.lock()) channel->Drop();
  }
  half_open_.clear();
}

void Listener::Accept() {
  acceptor_.async_accept([this](const ErrorCode& error, tcp::socket socket) {
    if (stopped_) return;
    if (!error) {
      OnAccept(std::move(socket));
      return Accept();
    }
    // Out of file descriptors, most likely: not a reason to give up, but to wait a little.
    pause_.expires_after(kPauseAfterError);
    pause_.async_wait([this](const ErrorCode& cancelled) {
      if (!cancelled && !stopped_) Accept();
    });
  });
}

void Listener::OnAccept(tcp::socket socket) {
  std::shared_ptr<Channel> channel;
  try {
    channel = std::make_shared<Channel>(std::move(socket), tls_, TlsRole::kServer);
  } catch (const TlsError&) {
    return;  // out of memory: the connection is dropped
  }
  std::erase_if(half_open_, [](const auto& entry) { return entry.expired(); });
  if (half_open_.size() >= kMaxHalfOpen) {
    if (const auto oldest = half_open_.front().lock()) oldest->Drop();
    half_open_.pop_front();
  }
  half_open_.push_back(channel);
  channel->Secure(handshake_deadline_, [this, weak = std::weak_ptr(channel)](const std::string& failure) {
    if (const auto secured = weak.lock()) OnSecured(secured, failure);
  });
}

void Listener::OnSecured(const std::shared_ptr<Channel>& channel, const std::string& failure) {
  if (stopped_) return channel->Drop();
  if (failure.empty()) {
    ForgetHalfOpen(channel.get());
    return on_channel_(channel);
  }
  if (limiter_.Allow(channel->address(), LogLimiter::Clock::now())) {
    log_("refused a connection from " + channel->address() + ": " + failure);
  }
}

void Listener::ForgetHalfOpen(const Channel* channel) {
  std::erase_if(half_open_, [channel](const auto& entry) { return entry.lock().get() == channel; });
}

}  // namespace trefoil::net
