#include "net/local_transport.h"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "base/error.h"
#include "net/link/frame.h"
#include "net/mesh/mailbox.h"

namespace trefoil::net {
namespace {

/// One direction of one link: queues of serialised frames, one a lane, each numbered for itself.
class Pipe {
 public:
  void Push(FrameHeader header, const Bytes& payload) {
    {
      const std::lock_guard lock(mutex_);
      Queue& queue = queues_[header.lane];
      header.sequence = queue.sent++;
      header.length = payload.size();
      const auto head = EncodeHeader(header);
      Bytes frame(head.begin(), head.end());
      frame.insert(frame.end(), payload.begin(), payload.end());
      queue.frames.push_back(std::move(frame));
    }
    ready_.notify_all();
  }

  /// The sender will send no more, on any lane.
  void Close(AbortCode code) {
    {
      const std::lock_guard lock(mutex_);
      if (!closed_) closed_ = code;
    }
    ready_.notify_all();
  }

  /// The receiver wants no more, on any lane.
  void Interrupt() {
    {
      const std::lock_guard lock(mutex_);
      interrupted_ = true;
    }
    ready_.notify_all();
  }

  /// The next message of `peer` on a lane. What was sent before the pipe was closed is delivered first.
  Message Pop(int peer, Lane lane, std::chrono::milliseconds timeout) {
    std::unique_lock lock(mutex_);
    Queue& queue = queues_[lane];
    const bool in_time =
        ready_.wait_for(lock, timeout, [&] { return !queue.frames.empty() || closed_ || interrupted_; });
    if (!in_time) throw NetworkError(peer, "silent for " + std::to_string(timeout.count()) + " ms");
    if (interrupted_) throw NetworkError(peer, "interrupted by this party");
    if (queue.frames.empty()) Throw(FailureOf(peer, *closed_));
    Bytes frame = std::move(queue.frames.front());
    queue.frames.pop_front();
    const FrameHeader header = DecodeHeader(std::span<const std::byte>(frame).first<kFrameHeaderBytes>());
    CheckInSequence(header, SessionId{}, queue.received++);
    if (header.length != frame.size() - kFrameHeaderBytes) throw ProtocolError("frame cut short");
    frame.erase(frame.begin(), frame.begin() + kFrameHeaderBytes);
    return {.lane = lane, .depth = header.depth, .payload = std::move(frame)};
  }

 private:
  struct Queue {
    std::deque<Bytes> frames;
    std::uint64_t sent = 0;
    std::uint64_t received = 0;
  };

  std::mutex mutex_;
  std::condition_variable ready_;
  std::map<Lane, Queue> queues_;
  std::optional<AbortCode> closed_;
  bool interrupted_ = false;
};

struct Mesh {
  std::array<std::array<Pipe, kParties>, kParties> pipes;  // [from][to]
};

class LocalTransport final : public Transport {
 public:
  LocalTransport(int self, std::shared_ptr<Mesh> mesh, std::chrono::milliseconds timeout)
      : Transport(self), mesh_(std::move(mesh)), timeout_(timeout) {}

  ~LocalTransport() override { Abort({.code = AbortCode::kStopped}); }

  void Abort(AbortReason reason) noexcept override {
    if (closed_.exchange(true)) return;
    for (int peer = 0; peer < kParties; ++peer) {
      if (peer != self()) PipeFor(self(), peer).Close(reason.code);
    }
  }

  void Interrupt() noexcept override {
    for (int peer = 0; peer < kParties; ++peer) {
      if (peer != self()) PipeFor(peer, self()).Interrupt();
    }
  }

 protected:
  void Write(int peer, Message message) override {
    if (closed_) throw NetworkError(peer, "the link was closed by this party");
    PipeFor(self(), peer)
        .Push({.type = FrameType::kData, .lane = message.lane, .depth = message.depth}, message.payload);
  }

  Message Read(int peer, Lane lane) override { return PipeFor(peer, self()).Pop(peer, lane, timeout_); }

 private:
  Pipe& PipeFor(int from, int to) {
    return mesh_->pipes[static_cast<std::size_t>(from)][static_cast<std::size_t>(to)];
  }

  std::shared_ptr<Mesh> mesh_;
  std::chrono::milliseconds timeout_;
  std::atomic<bool> closed_ = false;
};

}  // namespace

std::array<std::unique_ptr<Transport>, kParties> MakeLocalTransports(std::chrono::milliseconds timeout) {
  auto mesh = std::make_shared<Mesh>();
  return {std::make_unique<LocalTransport>(0, mesh, timeout),
          std::make_unique<LocalTransport>(1, mesh, timeout),
          std::make_unique<LocalTransport>(2, mesh, timeout)};
}

}  // namespace trefoil::net
