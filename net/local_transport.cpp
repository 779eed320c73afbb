#include "net/local_transport.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "base/error.h"
#include "net/frame.h"

namespace trefoil::net {
namespace {

/// One direction of one link: a queue of serialised frames.
class Pipe {
 public:
  void Push(Bytes frame) {
    {
      const std::lock_guard lock(mutex_);
      frames_.push_back(std::move(frame));
    }
    ready_.notify_one();
  }

  std::optional<Bytes> Pop(std::chrono::milliseconds timeout) {
    std::unique_lock lock(mutex_);
    if (!ready_.wait_for(lock, timeout, [this] { return !frames_.empty(); })) return std::nullopt;
    Bytes frame = std::move(frames_.front());
    frames_.pop_front();
    return frame;
  }

 private:
  std::mutex mutex_;
  std::condition_variable ready_;
  std::deque<Bytes> frames_;
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
    if (std::exchange(closed_, true)) return;
    for (int peer = 0; peer < kParties; ++peer) {
      if (peer == self()) continue;
      Put(peer, {.type = FrameType::kAbort},
          {static_cast<std::byte>(reason.code), static_cast<std::byte>(reason.about)});
    }
  }

 protected:
  void Write(int peer, Message message) override {
    if (closed_) throw NetworkError(peer, "the link was closed by this party");
    Put(peer, {.type = FrameType::kData, .depth = message.depth}, message.payload);
  }

  Message Read(int peer) override {
    auto frame = PipeFor(peer, self()).Pop(timeout_);
    if (!frame) throw NetworkError(peer, "silent for " + std::to_string(timeout_.count()) + " ms");
    const FrameHeader header = DecodeHeader(std::span<const std::byte>(*frame).first<kFrameHeaderBytes>());
    CheckInSequence(header, SessionId{}, received_[static_cast<std::size_t>(peer)]++);
    if (header.length != frame->size() - kFrameHeaderBytes) throw ProtocolError("frame cut short");
    frame->erase(frame->begin(), frame->begin() + kFrameHeaderBytes);
    if (header.type == FrameType::kAbort) {
      throw NetworkError(peer, Describe(static_cast<AbortCode>(std::to_integer<std::uint8_t>(frame->at(0)))));
    }
    return {.depth = header.depth, .payload = std::move(*frame)};
  }

 private:
  Pipe& PipeFor(int from, int to) {
    return mesh_->pipes[static_cast<std::size_t>(from)][static_cast<std::size_t>(to)];
  }

  void Put(int peer, FrameHeader header, const Bytes& payload) {
    header.sequence = sent_[static_cast<std::size_t>(peer)]++;
    header.length = payload.size();
    const auto head = EncodeHeader(header);
    Bytes frame(head.begin(), head.end());
    frame.insert(frame.end(), payload.begin(), payload.end());
    PipeFor(self(), peer).Push(std::move(frame));
  }

  std::shared_ptr<Mesh> mesh_;
  std::chrono::milliseconds timeout_;
  std::array<std::uint64_t, kParties> sent_{};
  std::array<std::uint64_t, kParties> received_{};
  bool closed_ = false;
};

}  // namespace

std::array<std::unique_ptr<Transport>, kParties> MakeLocalTransports(std::chrono::milliseconds timeout) {
  auto mesh = std::make_shared<Mesh>();
  return {std::make_unique<LocalTransport>(0, mesh, timeout),
          std::make_unique<LocalTransport>(1, mesh, timeout),
          std::make_unique<LocalTransport>(2, mesh, timeout)};
}

}  // namespace trefoil::net
