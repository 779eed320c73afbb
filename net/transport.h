#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/error.h"

namespace trefoil::net {

inline constexpr int kParties = 3;

using Bytes = std::vector<std::byte>;

/// What a message is counted as: online traffic, or offline traffic, which does not depend on the data and
/// could have been produced and sent before it (dealt masks). Offline messages do not add to the logical
/// depth.
enum class Phase { kOnline, kOffline };

/// Why a party tells its peers to stop. A code only: never a value, a row or a file name.
enum class AbortCode : std::uint8_t {
  kInternal = 1,       ///< anything else
  kConfiguration = 2,  ///< wrong job or settings
  kPeerLost = 3,       ///< lost another party; `about` says which
  kData = 4,           ///< its own data is not what the job declares
  kBudget = 5,         ///< its privacy budget does not allow the job
  kStopped = 6,        ///< told to stop (signal)
  kStorage = 7,        ///< cannot write its files: a full disk
  kMemory = 8,         ///< out of memory
  kProtocol = 9,       ///< received what the protocol does not allow; `about` says from whom
  kRankLost = 10,      ///< lost one of its own machines
};

struct AbortReason {
  AbortCode code = AbortCode::kInternal;
  int about = -1;  ///< with kPeerLost: the party that was lost; with kProtocol: that broke the protocol
};

/// Numbers one of several independent streams of messages on a link: branches of a program that run beside
/// each other each have their own. Lane 0 is the program's; those of its branches are LaneOfBranch(0, 0) and
/// (0, 1), and so on.
using Lane = std::uint16_t;
inline constexpr Lane kLanes = 15;  ///< branches within branches, three deep

/// What is sent offline goes on lanes of its own, so that it may come ahead of what the program sends online.
[[nodiscard]] constexpr Lane OfflineLane(Lane lane) { return static_cast<Lane>(lane + kLanes); }
inline constexpr Lane kAllLanes = 2 * kLanes;

/// Pre: branch 0 or 1; the result is below kLanes (else ContractError).
[[nodiscard]] Lane LaneOfBranch(Lane lane, int branch);

/// One message as the links carry it. `depth` is the sender's logical depth (0: does not count).
struct Message {
  Lane lane = 0;
  std::uint32_t depth = 0;
  Bytes payload;
};

/// What one party has sent since it was last reset: payload bytes (no frames, no TLS), messages, and rounds,
/// which are the logical depth: a message carries its sender's depth + 1, and the receiver's depth becomes
/// the maximum of both.
struct Counters {
  std::uint32_t rounds = 0;
  std::uint64_t bytes_sent = 0;
  std::uint64_t bytes_offline = 0;
  std::array<std::uint64_t, kParties> bytes_sent_to{};  ///< online and offline, by peer
  std::uint64_t messages = 0;
};

/// One party's links to its two peers, or one lane of them: ordered, reliable, message by message. The public
/// functions count and check; a subclass moves bytes. Used by one thread at a time, but lanes
/// (net/mesh/lane_transport.h) move their bytes through the transport that they branch off, each in its own
/// thread.
class Transport {
 public:
  explicit Transport(int self, Lane lane = 0);
  virtual ~Transport() = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;

  [[nodiscard]] int self() const { return self_; }
  [[nodiscard]] Lane lane() const { return lane_; }

  /// Queues a message and returns without waiting for the peer.
  /// Throws NetworkError if a link is known to be down.
  void Send(int peer, Bytes payload, Phase phase = Phase::kOnline);

  /// Sends a message of the offline phase, uncounted, for `lane` of this transport. May be called in another
  /// thread than the lane's, if nobody else sends offline messages for that lane. Throws as Send.
  void PostOffline(Lane lane, int peer, Bytes payload);
  /// Counts what was sent by PostOffline, where the program comes to it.
  void CountOffline(int peer, std::uint64_t bytes);

  /// The next message of `peer` of that phase, which must have exactly `expected_bytes`.
  /// Throws NetworkError if a peer is lost or silent for too long, AbortedError if it aborted (BudgetError
  /// where its privacy budget was why); ProtocolError on a wrong length.
  [[nodiscard]] Bytes Receive(int peer, std::size_t expected_bytes, Phase phase = Phase::kOnline);

  /// The next message of `peer`, of at most `limit` bytes: for the few messages whose length only the sender
  /// knows.
  [[nodiscard]] Bytes ReceiveUpTo(int peer, std::size_t limit);

  /// Tells both peers to stop and why, as well as the links still allow; never throws. Nothing can be sent
  /// afterwards.
  virtual void Abort(AbortReason reason) noexcept = 0;

  /// Ends every lane's Receive at this party with a NetworkError, now and later, without telling the peers:
  /// for a branch that has failed while another waits. The party is to Abort with the reason next.
  virtual void Interrupt() noexcept = 0;

  [[nodiscard]] const Counters& counters() const { return counters_; }
  /// Starts counting anew. The peers must do the same at the same place, with no message under way but
  /// barriers.
  void ResetCounters() { counters_ = {}; }
  /// Adds what a branch, which started from these counters' rounds, has sent.
  void Absorb(const Counters& branch);

 protected:
  /// Both may be called by several threads at once, each with messages of its own lane.
  virtual void Write(int peer, Message message) = 0;
  virtual Message Read(int peer, Lane lane) = 0;

  void StartCountingAt(std::uint32_t rounds) { counters_ = {.rounds = rounds}; }

  /// For decorators: what another transport does underneath, uncounted and unchecked.
  static void WriteThrough(Transport& inner, int peer, Message message) {
    inner.Write(peer, std::move(message));
  }
  static Message ReadThrough(Transport& inner, int peer, Lane lane) { return inner.Read(peer, lane); }

 private:
  void RequirePeer(int peer) const;
  Bytes Take(int peer, std::size_t least, std::size_t most, Phase phase);

  int self_;
  Lane lane_;
  Counters counters_;
};

/// The text for an abort reason as received from `peer`: "aborted: its data is not what the job declares",
/// ...
[[nodiscard]] const char* Describe(AbortCode code);

/// A peer has told this party to stop, for a reason that is its own. Its text is Describe's.
class AbortedError : public NetworkError {
 public:
  AbortedError(int peer, AbortCode code) : NetworkError(peer, Describe(code)), code_(code) {}
  [[nodiscard]] AbortCode code() const { return code_; }

 private:
  AbortCode code_;
};

}  // namespace trefoil::net
