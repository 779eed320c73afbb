#pragma once
#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "jobs/config/party_file.h"
#include "ml/dpsgd/training.h"
#include "net/http/http_endpoint.h"
#include "net/transport.h"

namespace trefoil::runtime {

/// When a certificate expires.
struct CertificateExpiry {
  int party = 0;
  std::int64_t unix_seconds = 0;
};

/// What is known of a peer: not connected yet, connected, or gone for good in this session.
enum class PeerState { kWaiting, kConnected, kLost };

/// What a run tells programs on its machine while it goes on: /metrics (Prometheus' text format), /healthz
/// (200 as long as the process lives) and /readyz (200 while both peers take part in the job and the run does
/// not wait too long for one of them or for storage, else 503 and the reason).
/// Nothing of records, shares or keys: what is in progress.csv, and the state of links, certificates and
/// memory. All functions may be called by any thread; without [metrics] in the party file nothing listens.
class RunMetrics {
 public:
  /// Throws ConfigError "FILE: metrics.listen: ..." where it cannot listen; as net::Inspect, naming the file,
  /// for a certificate that cannot be read.
  RunMetrics(const jobs::PartyFile& party, const std::string& party_file);

  void SetPeer(int peer, PeerState state);
  /// Whether the three have agreed on the job, and none has failed.
  void SetReady(bool ready);
  /// How long the run has waited for a peer's next message, or for a call of the system (`what`), where that is
  /// too long; zero where it is not. What takes too long makes /readyz say so, with status 503.
  void SetWaiting(int peer, std::chrono::milliseconds age);
  void SetStorage(std::chrono::milliseconds age, const std::string& what);
  /// Connections that were dropped before their handshake was over (net::MeshConfig::on_dropped).
  void SetDropped(std::uint64_t total);
  /// `sent`: payload bytes to each party so far.
  void SetStep(const ml::StepReport& report, const std::array<std::uint64_t, net::kParties>& sent);

  /// The page for a path.
  [[nodiscard]] net::HttpAnswer Answer(const std::string& path) const;

 private:
  [[nodiscard]] std::string Text() const;
  /// Why the run does not get on; empty where it does. Under the lock.
  [[nodiscard]] std::string Obstacle() const;

  int self_;
  std::vector<CertificateExpiry> certificates_;
  mutable std::mutex mutex_;
  bool ready_ = false;
  std::array<PeerState, net::kParties> peers_{};
  std::array<std::chrono::milliseconds, net::kParties> waiting_{};
  std::chrono::milliseconds storage_{0};
  std::string storage_call_;
  std::uint64_t dropped_ = 0;
  ml::StepReport report_{};
  std::array<std::uint64_t, net::kParties> sent_{};
  std::unique_ptr<net::HttpEndpoint> endpoint_;  // last: its thread uses the others
};

}  // namespace trefoil::runtime
