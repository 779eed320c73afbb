#include "net/mesh/links.h"

#include <string>
#include <utility>

#include "base/error.h"
#include "net/start/starter.h"

namespace trefoil::net {
namespace {

// A report that a peer is lost may overtake that peer's own last words, which say more.
constexpr std::chrono::milliseconds kReportGrace{250};

}  // namespace

Links::Links(asio::io_context& io, int self, Mailbox& mailbox) : self_(self), mailbox_(mailbox), grace_(io) {}

void Links::Attach(const std::array<std::shared_ptr<Channel>, kParties>& channels) {
  channels_ = channels;
  for (int peer = 0; peer < kParties; ++peer) {
    const auto& channel = channels_[static_cast<std::size_t>(peer)];
    if (!channel) continue;
    channel->Handle([this, peer](Frame frame) { OnFrame(peer, std::move(frame)); },
                    [this, peer](const Ending& ending) { OnEnd(peer, ending); });
    channel->Resume();
  }
}

void Links::Post(int peer, Message message) {
  channels_[static_cast<std::size_t>(peer)]->Post(FrameType::kData, std::move(message.payload), message.lane,
                                                  message.depth);
}

void Links::Lose(const Failure& failure) {
  if (ended_) return;
  mailbox_.Fail(failure);
  const bool protocol = failure.kind == Failure::Kind::kProtocol;
  TellAndClose({.code = protocol ? AbortCode::kProtocol : AbortCode::kPeerLost, .about = failure.peer});
}

void Links::Abort(const AbortReason& reason) { TellAndClose(reason); }

void Links::Finish(std::chrono::milliseconds silence) {
  if (!End()) return;
  for (const auto& channel : channels_) {
    if (channel) channel->Finish(silence);
  }
}

void Links::TellAndClose(const AbortReason& reason) {
  if (!End()) return;
  for (const auto& channel : channels_) {
    if (!channel) continue;
    channel->Post(FrameType::kAbort, EncodeAbort(reason));
    channel->Close(kLinger);
  }
}

bool Links::End() {
  grace_.cancel();
  return !std::exchange(ended_, true);
}

void Links::OnFrame(int peer, Frame frame) {
  switch (frame.header.type) {
    case FrameType::kData:
      return mailbox_.Put(
          peer,
          {.lane = frame.header.lane, .depth = frame.header.depth, .payload = std::move(frame.payload)});
    case FrameType::kHeartbeat:
      return;
    case FrameType::kAbort:
      return OnAbort(peer, frame);
    default:
      throw ProtocolError("unexpected greeting in a running session");
  }
}

void Links::OnAbort(int peer, const Frame& frame) {
  const AbortReason reason = DecodeAbort(frame);
  const Failure failure = FailureOf(self_, peer, reason);
  // A breach is named at once, by all three: who is accused may accuse the one that found it. Who has given
  // up a link may have been told of one by the third party, whose own word is still on its way.
  if (reason.code != AbortCode::kPeerLost) return Lose(failure);
  const bool first = reported_ == std::array<bool, kParties>{};
  reported_.at(static_cast<std::size_t>(peer)) = true;
  if (!first) return;
  grace_.expires_after(kReportGrace);
  grace_.async_wait([this, failure](const ErrorCode& cancelled) {
    if (!cancelled) Lose(failure);
  });
}

void Links::OnEnd(int peer, const Ending& ending) {
  if (ended_ || reported_.at(static_cast<std::size_t>(peer))) return;
  if (ending.kind == Ending::Kind::kClean) return mailbox_.Finish(peer);
  if (ending.kind == Ending::Kind::kGarbage)
    return Lose({.kind = Failure::Kind::kProtocol, .peer = peer, .cause = ending.cause});
  Lose({.peer = peer, .cause = ending.cause, .link_ended = true});
}

}  // namespace trefoil::net
