#include "net/start/listener.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "base/error.h"
#include "base/files/regular_file.h"
#include "base/secrets/random.h"
#include "net/mesh/mesh_config.h"
#include "net/mesh/wording.h"

namespace trefoil::net {
namespace {

constexpr std::chrono::minutes kQuietPerAddress{1};
constexpr std::size_t kMaxAddresses = 1024;

void Drop(const HalfOpenConnections::Connection& connection) {
  if (const auto channel = std::static_pointer_cast<Channel>(connection.lock())) channel->Drop();
}

}  // namespace

tcp::acceptor OpenPort(asio::io_context& io, const std::string& host, std::uint16_t port,
                       const std::string& setting) {
  const std::string place = host + ":" + std::to_string(port);
  ErrorCode error;
  const auto refuse = [&] {
    throw ConfigError("cannot listen on " + place + ": " + DescribeError(error) + ": correct " + setting +
                      " to an address of this machine");
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
                    ": end what uses it, or choose another " + setting);
  }
  if (error) refuse();
  return acceptor;
}

bool LogLimiter::Allow(const std::string& address, Clock::time_point now) {
  const auto expired = [&](const auto& entry) { return now - entry.second >= kQuietPerAddress; };
  if (last_.size() >= kMaxAddresses) std::erase_if(last_, expired);
  const auto entry = last_.find(address);
  if (entry != last_.end() && !expired(*entry)) return false;
  if (entry == last_.end() && last_.size() >= kMaxAddresses) return false;
  last_[address] = now;
  return true;
}

std::string DropReport::Count(const std::string& address, Clock::time_point now) {
  ++total_;
  ++unsaid_;
  if (unsaid_of_.size() < kMaxAddresses || unsaid_of_.contains(address)) ++unsaid_of_[address];
  if (now < next_line_) return {};
  next_line_ = now + kQuietPerAddress;
  return Rest();
}

std::string DropReport::Rest() {
  if (unsaid_ == 0) return {};
  const auto most = std::max_element(unsaid_of_.begin(), unsaid_of_.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  std::string line =
      "dropped connections that were not through with their handshake: " + std::to_string(unsaid_) +
      ", of which " + std::to_string(most->second) + " from " + most->first +
      ": more came at once than this party keeps";
  unsaid_ = 0;
  unsaid_of_.clear();
  return line;
}

Listener::Listener(asio::io_context& io, const MeshConfig& config, const std::vector<std::string>& peer_hosts,
                   std::shared_ptr<const TlsContext> tls, ChannelHandler on_channel)
    : config_(config),
      acceptor_(OpenPort(io, config.listen_host, config.listen_port, "party.listen")),
      pause_(io),
      tls_(std::move(tls)),
      on_channel_(std::move(on_channel)),
      peers_(io, peer_hosts) {}

void Listener::Start() {
  peers_.Start();
  Accept();
}

void Listener::Stop() {
  stopped_ = true;
  ErrorCode ignored;
  acceptor_.close(ignored);
  pause_.cancel();
  peers_.Stop();
  for (const auto& half_open : half_open_.TakeAll()) Drop(half_open);
  if (const auto line = dropped_.Rest(); !line.empty()) Log(config_, line);
}

void Listener::Accept() {
  acceptor_.async_accept([this](const ErrorCode& error, tcp::socket socket) {
    if (stopped_) return;
    if (!error) {
      Accept();  // before what may throw where memory is short
      return OnAccept(std::move(socket));
    }
    // Out of file descriptors, most likely: not a reason to give up, but to wait a little.
    if (limiter_.Allow("", LogLimiter::Clock::now()))
      Log(config_, "cannot accept a connection: " + DescribeErrno(error.value()));
    pause_.expires_after(kPauseAfterError);
    pause_.async_wait([this](const ErrorCode& cancelled) {
      if (!cancelled && !stopped_) Accept();
    });
  });
}

void Listener::OnAccept(tcp::socket socket) {
  ErrorCode error;
  const auto endpoint = socket.remote_endpoint(error);
  if (error) return;  // it has gone already
  HalfOpenConnections::Source source{.address = AddressText(endpoint.address())};
  source.of_peer = peers_.Contain(source.address);
  if (!MakeRoom(source)) return;
  std::shared_ptr<Channel> channel;
  try {
    channel = std::make_shared<Channel>(std::move(socket), tls_, TlsRole::kServer);
  } catch (const TlsError&) {
    return;  // out of memory: the connection is dropped
  }
  half_open_.Add(source, channel);
  channel->Secure(config_.handshake_timeout,
                  [this, weak = std::weak_ptr(channel)](const std::string& failure) {
                    if (const auto secured = weak.lock()) OnSecured(secured, failure);
                  });
}

// False if it is the new connection that has to go.
bool Listener::MakeRoom(const HalfOpenConnections::Source& source) {
  std::array<std::uint8_t, sizeof(std::uint64_t)> draw{};
  FillRandom(draw);
  const auto gone = half_open_.MakeRoom(source, std::bit_cast<std::uint64_t>(draw));
  if (!gone) return true;
  const auto channel = std::static_pointer_cast<Channel>(gone->lock());
  const auto line = dropped_.Count(channel ? channel->address() : source.address, DropReport::Clock::now());
  if (!line.empty()) Log(config_, line);
  if (config_.on_dropped) config_.on_dropped(dropped_.total());
  if (channel) channel->Drop();
  return channel != nullptr;
}

void Listener::OnSecured(const std::shared_ptr<Channel>& channel, const std::string& failure) {
  if (stopped_) return channel->Drop();
  if (failure.empty()) {
    half_open_.Remove(channel.get());
    return on_channel_(channel);
  }
  if (limiter_.Allow(channel->address(), LogLimiter::Clock::now())) {
    Log(config_, "refused a connection from " + channel->address() + ": " + failure);
  }
}

}  // namespace trefoil::net
