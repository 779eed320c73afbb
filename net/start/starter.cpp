#include "net/start/starter.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "net/mesh/mailbox.h"
#include "net/mesh/mesh_config.h"
#include "net/mesh/wording.h"

namespace trefoil::net {
namespace {}  // namespace

AbortReason DecodeAbort(const Frame& frame) {
  if (frame.payload.size() != 2)
    throw ProtocolError("abort of " + std::to_string(frame.payload.size()) + " bytes");
  return {.code = static_cast<AbortCode>(frame.payload[0]),
          .about = std::to_integer<signed char>(frame.payload[1])};
}

Bytes EncodeAbort(const AbortReason& reason) {
  return {static_cast<std::byte>(reason.code), static_cast<std::byte>(reason.about)};
}

Starter::Starter(asio::io_context& io, const MeshConfig& config, ReadyHandler on_ready,
                 FailureHandler on_failure)
    : io_(io),
      config_(config),
      on_ready_(std::move(on_ready)),
      on_failure_(std::move(on_failure)),
      timer_(io) {
  CheckMeshConfig(config_);
  hello_ = MakeHello(config_, Purpose::kRun);
  for (const PeerEndpoint& peer : config_.peers) {
    if (peer.id > config_.self) CauseOf(peer.id) = "it did not connect";
  }
  search_.emplace(
      io, config_, [this](const auto& channel, bool dialled) { Greet(channel, dialled); },
      [this](int peer, const std::string& cause) { Retry(peer, cause); });
}

void Starter::Start() {
  timer_.expires_after(config_.start_timeout);
  timer_.async_wait([this](const ErrorCode& cancelled) {
    if (!cancelled) OnTimeout();
  });
  search_->Start();
}

void Starter::Greet(const std::shared_ptr<Channel>& channel, bool dialled) {
  std::erase_if(channels_, [](const auto& entry) { return entry.expired(); });
  channels_.push_back(channel);
  Greeting::Begin(channel, io_, hello_, config_.job_json, config_.handshake_timeout, config_.peer_timeout,
                  [this, channel, dialled](const Greeted& result) { OnGreeted(channel, dialled, result); });
}

void Starter::OnGreeted(const std::shared_ptr<Channel>& channel, bool dialled, const Greeted& result) {
  if (finished_) return channel->Close(kLinger);
  const int peer = channel->party();
  const auto refuse = [&](const std::string& cause) {
    channel->Close(kLinger);
    CauseOf(peer) = cause;
    Log(config_, "party " + std::to_string(peer) + ": " + cause);
    if (dialled) search_->DialLater(peer);
  };
  if (!result.hello) return refuse(result.cause);
  try {
    CheckGreeting(hello_, *result.hello, peer);
    if (result.hello->purpose == Purpose::kCheck) return refuse("it runs a check, not the job");
    if (JobsDiffer(hello_, *result.hello)) {
      throw ConfigError(DescribeJobDifference(config_.job_json, result.job, peer));
    }
  } catch (const ConfigError&) {
    return Fail(std::current_exception(), AbortReason{.code = AbortCode::kConfiguration});
  }
  if (!dialled && peer < config_.self) return refuse("it dialled this party instead of waiting for it");
  Fill(channel, *result.hello);
}

void Starter::Fill(const std::shared_ptr<Channel>& channel, const Hello& hello) {
  const int peer = channel->party();
  Slot& slot = SlotOf(peer);
  if (slot.channel) slot.channel->Close(kLinger);  // the peer was started anew before its end was noticed
  slot = {.channel = channel, .hello = hello, .ready = std::nullopt};
  met_[static_cast<std::size_t>(peer)] = true;
  channel->LimitPayload(kMaxPayloadBytes);
  channel->Handle([this, peer](const Frame& frame) { OnFrame(peer, frame); },
                  [this, peer](const Ending& ending) { Empty(peer, ending.cause); });
  Log(config_, "party " + std::to_string(peer) + ": connected");
  TellOfPeer(config_, peer, true);
  Update();
}

void Starter::OnFrame(int peer, const Frame& frame) {
  switch (frame.header.type) {
    case FrameType::kHeartbeat:
      return;
    case FrameType::kReady:
      return OnReady(peer, frame.header.session);
    case FrameType::kAbort:
      return OnAbort(peer, frame);
    default:
      throw ProtocolError("unexpected frame before the session");
  }
}

void Starter::OnReady(int peer, const SessionId& session) {
  SlotOf(peer).ready = session;
  // While paused, a channel does not notice its end. If the peers see different sessions, one of them has
  // been started anew, and somebody must notice.
  if (session_ && session != *session_) {
    for (const Slot& slot : slots_) {
      if (slot.channel) slot.channel->Resume();
    }
  }
  Update();
}

void Starter::OnAbort(int peer, const Frame& frame) {
  const Failure failure = FailureOf(config_.self, peer, DecodeAbort(frame));
  // The third one may compute already, and would take this party's end for a lost link.
  std::optional<AbortReason> told;
  if (failure.kind == Failure::Kind::kProtocol) told = {.code = AbortCode::kProtocol, .about = failure.peer};
  try {
    Throw(failure);
  } catch (...) {
    Fail(std::current_exception(), told);
  }
}

void Starter::Empty(int peer, const std::string& cause) {
  SlotOf(peer) = {};
  session_.reset();
  for (const Slot& slot : slots_) {
    if (slot.channel) slot.channel->Resume();
  }
  Log(config_, "party " + std::to_string(peer) + ": " + cause + "; waiting for it again");
  TellOfPeer(config_, peer, false);
  CauseOf(peer) = cause;
  search_->DialLater(peer);
}

void Starter::Retry(int peer, const std::string& cause) {
  if (std::exchange(CauseOf(peer), cause) == cause) return;
  const PeerEndpoint& endpoint = Endpoint(peer);
  Log(config_, "party " + std::to_string(peer) + ": not reached at " + endpoint.host + ":" +
                   std::to_string(endpoint.port) + ": " + cause + "; trying again");
}

void Starter::Update() {
  std::array<Nonce, kParties> nonces{};
  for (int party = 0; party < kParties; ++party) {
    if (party != config_.self && !SlotOf(party).channel) return;
    nonces[static_cast<std::size_t>(party)] =
        party == config_.self ? hello_.nonce : SlotOf(party).hello.nonce;
  }
  const SessionId session = MakeSession(nonces);
  if (session_ != session) {
    session_ = session;
    for (const Slot& slot : slots_) {
      if (!slot.channel) continue;
      slot.channel->BeginSession(session);
      if (slot.ready == session) {
        slot.channel->Pause();
      } else {
        slot.channel->Resume();  // it may have stopped at the word for a session that has been given up
      }
    }
  }
  Links links{.session = session, .channels = {}};
  for (int party = 0; party < kParties; ++party) {
    if (party == config_.self) continue;
    if (SlotOf(party).ready != session) return;
    links.channels[static_cast<std::size_t>(party)] = SlotOf(party).channel;
  }
  finished_ = true;
  StopSearching();
  slots_ = {};
  on_ready_(links);
}

// One that never connected comes first: of two that are missing, the other most likely gave up waiting for
// it.
const PeerEndpoint* Starter::MissingPeer() const {
  const PeerEndpoint* missing = nullptr;
  for (const PeerEndpoint& peer : config_.peers) {
    const auto index = static_cast<std::size_t>(peer.id);
    if (slots_[index].channel) continue;
    if (!met_[index]) return &peer;
    if (missing == nullptr) missing = &peer;
  }
  return missing;
}

void Starter::OnTimeout() {
  if (finished_) return;
  const std::string within = " within " + DescribeDuration(config_.start_timeout) + " (timeouts.start)";
  if (const PeerEndpoint* peer = MissingPeer()) {
    const std::string place = peer->id < config_.self
                                  ? "not reached at " + peer->host + ":" + std::to_string(peer->port)
                                  : std::string("not connected to this party");
    return Fail(std::make_exception_ptr(NetworkError(peer->id, place + within + ": " + CauseOf(peer->id))));
  }
  const bool first_ready = session_ && SlotOf(config_.peers[0].id).ready == session_;
  const int missing = config_.peers[first_ready ? 1 : 0].id;
  Fail(std::make_exception_ptr(NetworkError(missing, "connected, but not ready" + within)));
}

void Starter::Fail(std::exception_ptr failure, const std::optional<AbortReason>& told) {
  if (std::exchange(finished_, true)) return;
  StopSearching();
  for (const Slot& slot : slots_) {
    if (slot.channel && told) slot.channel->Post(FrameType::kAbort, EncodeAbort(*told));
  }
  slots_ = {};
  for (const auto& entry : channels_) {
    if (const auto channel = entry.lock()) channel->Close(kLinger);
  }
  on_failure_(std::move(failure));
}

void Starter::StopSearching() {
  timer_.cancel();
  search_->Stop();
}

const PeerEndpoint& Starter::Endpoint(int peer) const {
  return config_.peers[0].id == peer ? config_.peers[0] : config_.peers[1];
}

}  // namespace trefoil::net
