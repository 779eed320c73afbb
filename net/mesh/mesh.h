#pragma once
#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "net/certificates/certificate.h"
#include "net/link/frame.h"
#include "net/start/handshake.h"
#include "net/transport.h"

namespace trefoil::net {

/// Where a peer listens and the one certificate it is known by.
struct PeerEndpoint {
  int id = -1;
  std::string host;
  std::uint16_t port = 0;
  std::string certificate_pem;
};

/// What one party needs to meet its two peers.
struct MeshConfig {
  int self = -1;
  std::string listen_host = "0.0.0.0";
  std::uint16_t listen_port = 0;
  Identity identity;
  std::array<PeerEndpoint, kParties - 1> peers;
  std::chrono::milliseconds start_timeout{
      120'000};                                    ///< for all three to be connected, whichever starts first
  std::chrono::milliseconds peer_timeout{10'000};  ///< a peer from which nothing comes for so long is lost
  std::chrono::milliseconds handshake_timeout{
      10'000};    ///< an attempt to connect, a TLS handshake or a greeting that takes longer is given up
  int ranks = 1;  ///< machines of each party, whose first meet each other, and so on
  int rank = 0;   ///< which of them this is
  std::string job_json;  ///< canonical compact JSON of the job, at most 1 MiB; its SHA-256 is the job's hash
  std::function<void(const std::string&)>
      log;  ///< one line without its end; called on the I/O thread; may be empty
  /// A peer has connected, or has gone again before all three were; called on the I/O thread; may be empty.
  std::function<void(int peer, bool connected)> on_peer;
  /// `total` connections have been dropped so far before their handshake was over, to make room for others
  /// (HalfOpenConnections); called on the I/O thread; may be empty.
  std::function<void(std::uint64_t total)> on_dropped;
};

/// A peer that was lost, while links of its other machines may tell more of it.
struct PeerLoss {
  int peer = -1;
  std::string cause;
  /// Without a word, or fell silent. False where others have told of the loss: the peer itself, that it was
  /// told to stop or had lost one of its machines, or the third party.
  bool link_ended = false;
  std::chrono::steady_clock::time_point at{};  ///< when this was found
};

/// A transport over TLS 1.3 to two peers whose certificates are pinned (docs/explanation/threat_model.md).
///
/// Failure, once found, is final and the same for every later call: NetworkError naming the party that was
/// lost (not the one that reported it), BudgetError if it aborted because of its privacy budget, or
/// ProtocolError. Send and Receive fail as soon as either peer is lost, even while they wait for the other. A
/// peer that has finished is not lost: what it sent is delivered first, and only waiting for more fails.
///
/// Destruction finishes, where Finish was not called. During stack unwinding it aborts with kInternal
/// instead. Abort returns when the reason is on its way, after at most a second or so. Send, Receive, Finish
/// and the counters are for one thread; Abort may be called from any other.
class MeshTransport : public Transport {
 public:
  using Transport::Transport;
  /// The hash of three fresh nonces, the same at all three parties.
  [[nodiscard]] virtual const SessionId& session() const = 0;
  /// Of the job that all three agreed on.
  [[nodiscard]] virtual const JobHash& job() const = 0;
  /// How long this party has waited for the peer's next message while nothing but heartbeats has come from
  /// it; zero where it does not wait. From any thread.
  [[nodiscard]] virtual std::chrono::milliseconds WaitingFor(int peer) const = 0;
  /// The loss that has ended the links, if it is such a one, whether a call has met it or not. From any
  /// thread.
  [[nodiscard]] virtual std::optional<PeerLoss> Loss() const = 0;
  /// Ends in order: queued messages are delivered, however long that takes, and the links closed; a peer that
  /// takes no byte for peer_timeout is given up. Nothing can be sent or received afterwards. Throws
  /// NetworkError, about this party, where an Abort has cut it short.
  virtual void Finish() = 0;
};

/// Connects to both peers: party i dials every j < i and is dialled by every j > i (so party 2 needs no open
/// port). Blocks until all three are connected and agree on the program's version, the job and the session.
/// Strangers are logged and refused meanwhile. Throws ConfigError if the configuration cannot be used, the
/// port cannot be opened, or a peer has another version or job (the text names the first key that differs);
/// NetworkError naming the peer that did not come within start_timeout.
[[nodiscard]] std::unique_ptr<MeshTransport> ConnectMesh(const MeshConfig& config);

/// Tells both peers that this party gives up before the job has begun, and why: waits for them as ConnectMesh
/// does, but for at most `limit`, and sends the reason to each that comes, who ends with it. Returns which
/// were told. Throws ConfigError as ConnectMesh, but where a peer has another job or version: it finds that
/// out by itself.
[[nodiscard]] std::array<bool, kParties> RefuseMesh(const MeshConfig& config, AbortReason reason,
                                                    std::chrono::milliseconds limit);

/// How far a peer could be examined: each flag is meaningful if all before it are true.
struct PeerCheck {
  int peer = -1;
  bool resolved = false;   ///< its host name has an address
  bool connected = false;  ///< its port answers
  bool secured = false;    ///< TLS 1.3, and both certificates accepted
  bool same_version = false;
  bool same_job = false;  ///< true also if either side checks without a job
  std::string cause;      ///< why the first false flag is false; empty if there is none
  /// The peer's clock minus this one's, give or take the time a message travels; zero unless same_version.
  std::chrono::milliseconds clock_difference{0};

  [[nodiscard]] bool ok() const { return same_job; }
};

/// Examines both peers, for at most `duration`, and answers peers that run a check or wait in ConnectMesh
/// (which are not disturbed). A peer counts as reached over a connection in either direction; one that is not
/// up is reported, not thrown. `job_json` may be empty: jobs are not compared then. Throws ConfigError if the
/// configuration cannot be used.
[[nodiscard]] std::array<PeerCheck, kParties - 1> CheckPeers(const MeshConfig& config,
                                                             std::chrono::milliseconds duration);

}  // namespace trefoil::net
