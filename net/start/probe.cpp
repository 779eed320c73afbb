#include <algorithm>
#include <exception>
#include <future>
#include <memory>
#include <utility>
#include <vector>

#include "base/error.h"
#include "net/link/asio.h"
#include "net/link/io_thread.h"
#include "net/mesh/mesh.h"
#include "net/mesh/mesh_config.h"
#include "net/start/dialer.h"
#include "net/start/greeting.h"
#include "net/start/listener.h"

namespace trefoil::net {
namespace {

int Progress(const PeerCheck& check) {
  return check.resolved + check.connected + check.secured + check.same_version + check.same_job;
}

/// One check of both peers; everything but the constructor and the result happens on the I/O thread.
class Prober {
 public:
  Prober(asio::io_context& io, const MeshConfig& config) : io_(io), config_(config), timer_(io) {
    hello_ = MakeHello(config_, Purpose::kCheck);
    OpenListener();
    for (std::size_t i = 0; i < config_.peers.size(); ++i) {
      results_[i].peer = config_.peers[i].id;
      results_[i].cause = "nothing heard of it in time";
      dialers_[i] = std::make_unique<Dialer>(
          io, config_.peers[i], MakeTlsContextFor(config_, config_.peers[i]), config_.handshake_timeout,
          [this](const auto& channel) { Greet(channel); },
          [this, i](Dialer::Stage stage, const std::string& cause) { OnDialFailure(i, stage, cause); });
    }
  }

  void Start(std::chrono::milliseconds duration) {
    timer_.expires_after(duration);
    timer_.async_wait([this](const ErrorCode& cancelled) {
      if (!cancelled) Finish();
    });
    if (listener_) listener_->Start();
    for (const auto& dialer : dialers_) dialer->Dial();
  }

  std::array<PeerCheck, kParties - 1> Wait() {
    finished_.get_future().get();
    return results_;
  }

 private:
  // A port that is taken is no obstacle: this party's own `run` may be waiting on it, and can be reached
  // there.
  void OpenListener() {
    const auto tls = MakeTlsContext(config_);
    try {
      listener_ =
          std::make_unique<Listener>(io_, config_, std::vector{config_.peers[0].host, config_.peers[1].host},
                                     tls, [this](const auto& channel) { Greet(channel); });
    } catch (const PortTaken& error) {
      Log(config_, std::string(error.what()) + "; all is well if that is this party's own run");
    }
  }

  void OnDialFailure(std::size_t i, Dialer::Stage stage, const std::string& cause) {
    Record(i, {.peer = config_.peers[i].id,
               .resolved = stage != Dialer::Stage::kResolve,
               .connected = stage == Dialer::Stage::kSecure,
               .cause = cause});
  }

  void Greet(const std::shared_ptr<Channel>& channel) {
    if (done_) return channel->Drop();
    channels_.push_back(channel);
    Greeting::Begin(channel, io_, hello_, config_.job_json, config_.handshake_timeout, config_.peer_timeout,
                    [this, channel](const Greeted& result) { OnGreeted(channel, result); });
  }

  void OnGreeted(const std::shared_ptr<Channel>& channel, const Greeted& result) {
    const int peer = channel->party();
    const std::size_t i = config_.peers[0].id == peer ? 0 : 1;
    channel->Close(kLinger);
    if (done_) return;
    PeerCheck check{.peer = peer, .resolved = true, .connected = true, .cause = result.cause};
    if (result.hello) {
      Judge(*result.hello, result.job, check);
      dialers_[i]->Stop();
      greeted_[i] = true;
    } else {
      dialers_[i]->DialLater();
    }
    Record(i, std::move(check));
    if (greeted_[0] && greeted_[1]) Finish();
  }

  void Judge(const Hello& theirs, const std::string& their_job, PeerCheck& check) const {
    check.secured = true;
    try {
      CheckGreeting(hello_, theirs, check.peer);
      check.same_version = true;
      check.clock_difference = std::chrono::milliseconds(theirs.clock_milliseconds - WallClockMilliseconds());
      check.same_job = !JobsDiffer(hello_, theirs);
      if (!check.same_job) check.cause = DescribeJobDifference(config_.job_json, their_job, check.peer);
    } catch (const ConfigError& error) {
      check.cause = error.what();
    }
  }

  // A later attempt that gets less far says less.
  void Record(std::size_t i, PeerCheck check) {
    if (!greeted_[i] || check.secured) {
      if (Progress(check) >= Progress(results_[i])) results_[i] = std::move(check);
    }
  }

  void Finish() {
    if (std::exchange(done_, true)) return;
    timer_.cancel();
    if (listener_) listener_->Stop();
    for (const auto& dialer : dialers_) dialer->Stop();
    for (const auto& entry : channels_) {
      if (const auto channel = entry.lock()) channel->Close(kLinger);
    }
    finished_.set_value();
  }

  asio::io_context& io_;
  MeshConfig config_;
  asio::steady_timer timer_;
  Hello hello_;
  std::unique_ptr<Listener> listener_;
  std::array<std::unique_ptr<Dialer>, kParties - 1> dialers_;
  std::vector<std::weak_ptr<Channel>> channels_;
  std::array<PeerCheck, kParties - 1> results_;
  std::array<bool, kParties - 1> greeted_{};
  bool done_ = false;
  std::promise<void> finished_;
};

}  // namespace

std::array<PeerCheck, kParties - 1> CheckPeers(const MeshConfig& config, std::chrono::milliseconds duration) {
  CheckMeshConfig(config);
  IoThread io;
  Prober prober(io.context(), config);
  asio::post(io.context(), [&] { prober.Start(duration); });
  auto results = prober.Wait();
  io.Drain(kLinger + std::chrono::milliseconds(500));
  return results;
}

}  // namespace trefoil::net
