#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "apps/party_file.h"
#include "ml/training.h"
#include "net/http_endpoint.h"
#include "net/transport.h"

namespace trefoil::apps {

/// When a certificate expires.
struct CertificateExpiry {
  int party = 0;
  std::int64_t unix_seconds = 0;
};

/// What is known of a peer: not connected yet, connected, or gone for good in this session.
enum class PeerState { kWaiting, kConnected, kLost };

/// What a run tells programs on its machine while it goes on: /metrics (Prometheus' text format), /healthz
/// (200 as long as the process lives) and /readyz (200 while both peers take part in the job, else 503).
/// Nothing of records, shares or keys: what is in progress.csv, and the state of links, certificates and
/// memory. All functions may be called by any thread; without [metrics] in the party file nothing listens.
class RunMetrics {
 public:
  /// Throws ConfigError "FILE: metrics.listen: ..." where it cannot listen; as net::Inspect, naming the file,
  /// for a certificate that cannot be read.
  RunMetrics(const PartyFile& party, const std::string& party_file);

  void SetPeer(int peer, PeerState state);
  /// Whether the three have agreed on the job, and none has failed.
  void SetReady(bool ready);
  /// Connections that were dropped before their handshake was over (net::MeshConfig::on_dropped).
  void SetDropped(std::uint64_t total);
  /// `sent`: payload bytes to each party so far.
  void SetStep(const ml::StepReport& report, const std::array<std::uint64_t, net::kParties>& sent);

  /// The page for a path.
  [[nodiscard]] net::HttpAnswer Answer(const std::string& path) const;

 private:
  [[nodiscard]] std::string Text() const;

  int self_;
  std::vector<CertificateExpiry> certificates_;
  mutable std::mutex mutex_;
  bool ready_ = false;
  std::array<PeerState, net::kParties> peers_{};
  std::uint64_t dropped_ = 0;
  ml::StepReport report_{};
  std::array<std::uint64_t, net::kParties> sent_{};
  std::unique_ptr<net::HttpEndpoint> endpoint_;  // last: its thread uses the others
};

}  // namespace trefoil::apps
