#include <array>
#include <future>
#include <memory>
#include <utility>
#include <vector>

#include "net/link/asio.h"
#include "net/link/io_thread.h"
#include "net/mesh/mesh.h"
#include "net/mesh/mesh_config.h"
#include "net/start/greeting.h"
#include "net/start/peer_search.h"
#include "net/start/starter.h"

namespace trefoil::net {
namespace {

/// Meets the peers as a Starter does, and tells each why there will be no session. Everything but the
/// constructor and the result happens on the I/O thread.
class Refusal {
 public:
  Refusal(asio::io_context& io, const MeshConfig& config, AbortReason reason)
      : io_(io),
        config_(config),
        reason_(reason),
        timer_(io),
        hello_(MakeHello(config_, Purpose::kRun)),
        search_(
            io, config_, [this](const auto& channel, bool dialled) { Greet(channel, dialled); },
            [](int, const std::string&) {}) {
    told_.at(static_cast<std::size_t>(config_.self)) = true;
  }

  void Start(std::chrono::milliseconds limit) {
    timer_.expires_after(limit);
    timer_.async_wait([this](const ErrorCode& cancelled) {
      if (!cancelled) Finish();
    });
    search_.Start();
  }

  std::array<bool, kParties> Wait() {
    finished_.get_future().get();
    told_.at(static_cast<std::size_t>(config_.self)) = false;
    return told_;
  }

 private:
  void Greet(const std::shared_ptr<Channel>& channel, bool dialled) {
    if (done_) return channel->Drop();
    channels_.push_back(channel);
    Greeting::Begin(channel, io_, hello_, config_.job_json, config_.handshake_timeout, config_.peer_timeout,
                    [this, channel, dialled](const Greeted& result) { OnGreeted(channel, dialled, result); });
  }

  void OnGreeted(const std::shared_ptr<Channel>& channel, bool dialled, const Greeted& result) {
    const int peer = channel->party();
    const bool runs = result.hello && result.hello->purpose == Purpose::kRun;
    if (runs) channel->Post(FrameType::kAbort, EncodeAbort(reason_));
    channel->Close(kLinger);
    if (done_) return;
    if (runs) told_.at(static_cast<std::size_t>(peer)) = true;
    if (dialled && !runs) search_.DialLater(peer);
    if (told_[0] && told_[1] && told_[2]) Finish();
  }

  void Finish() {
    if (std::exchange(done_, true)) return;
    timer_.cancel();
    search_.Stop();
    for (const auto& entry : channels_) {
      if (const auto channel = entry.lock()) channel->Close(kLinger);
    }
    finished_.set_value();
  }

  asio::io_context& io_;
  MeshConfig config_;
  AbortReason reason_;
  asio::steady_timer timer_;
  Hello hello_;
  PeerSearch search_;
  std::vector<std::weak_ptr<Channel>> channels_;
  std::array<bool, kParties> told_{};
  bool done_ = false;
  std::promise<void> finished_;
};

}  // namespace

std::array<bool, kParties> RefuseMesh(const MeshConfig& config, AbortReason reason,
                                      std::chrono::milliseconds limit) {
  CheckMeshConfig(config);
  IoThread io;
  Refusal refusal(io.context(), config, reason);
  asio::post(io.context(), [&] { refusal.Start(limit); });
  const auto told = refusal.Wait();
  io.Drain(kLinger + std::chrono::milliseconds(500));
  return told;
}

}  // namespace trefoil::net
