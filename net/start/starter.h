#pragma once
#include <array>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "net/link/asio.h"
#include "net/link/channel.h"
#include "net/mesh/mesh.h"
#include "net/start/greeting.h"
#include "net/start/peer_search.h"

namespace trefoil::net {

/// Brings one party from nothing to two links of one session: listens for the higher parties, dials the lower
/// ones, greets them, agrees on the session. A link that breaks before that is made anew. Must outlive the
/// I/O thread's last operation.
class Starter {
 public:
  struct Links {
    SessionId session{};
    std::array<std::shared_ptr<Channel>, kParties> channels;
  };
  /// Called on the I/O thread; must give the channels new handlers and resume them.
  using ReadyHandler = std::function<void(const Links& links)>;
  using FailureHandler = std::function<void(std::exception_ptr failure)>;

  /// Opens the port, if this party needs one. Throws ConfigError as ConnectMesh.
  Starter(asio::io_context& io, const MeshConfig& config, ReadyHandler on_ready, FailureHandler on_failure);

  /// On the I/O thread. Exactly one of the handlers is called, at most start_timeout later.
  void Start();

 private:
  struct Slot {
    std::shared_ptr<Channel> channel;
    Hello hello;
    std::optional<SessionId> ready;  // the session that the peer is ready for
  };

  void Greet(const std::shared_ptr<Channel>& channel, bool dialled);
  void OnGreeted(const std::shared_ptr<Channel>& channel, bool dialled, const Greeted& result);
  void Fill(const std::shared_ptr<Channel>& channel, const Hello& hello);
  void OnFrame(int peer, const Frame& frame);
  void OnReady(int peer, const SessionId& session);
  void OnAbort(int peer, const Frame& frame);
  void Empty(int peer, const std::string& cause);
  void Retry(int peer, const std::string& cause);
  void Update();
  void OnTimeout();
  [[nodiscard]] const PeerEndpoint* MissingPeer() const;
  void Fail(std::exception_ptr failure, const std::optional<AbortReason>& told = {});  // told: to the peers
  void StopSearching();
  [[nodiscard]] const PeerEndpoint& Endpoint(int peer) const;
  Slot& SlotOf(int peer) { return slots_[static_cast<std::size_t>(peer)]; }
  std::string& CauseOf(int peer) { return causes_[static_cast<std::size_t>(peer)]; }

  asio::io_context& io_;
  MeshConfig config_;
  ReadyHandler on_ready_;
  FailureHandler on_failure_;
  Hello hello_;
  std::optional<PeerSearch> search_;  // made once the configuration has been checked
  asio::steady_timer timer_;
  std::vector<std::weak_ptr<Channel>> channels_;
  std::array<Slot, kParties> slots_;
  std::array<std::string, kParties> causes_;  // why the slot is empty, as far as known
  std::array<bool, kParties> met_{};          // whose slot was filled at least once
  std::optional<SessionId> session_;
  bool finished_ = false;
};

/// What a frame of type kAbort says. Throws ProtocolError if it says nothing.
[[nodiscard]] AbortReason DecodeAbort(const Frame& frame);
[[nodiscard]] Bytes EncodeAbort(const AbortReason& reason);

}  // namespace trefoil::net
