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
#include "runtime/observe/run_log.h"
#include "runtime/observe/run_status.h"

namespace trefoil::runtime {

/// What a run tells on its machine while it goes on. For programs: /metrics (Prometheus' text format),
/// /healthz (200 as long as the process lives) and /readyz (200 while both peers take part in the job and the
/// run does not wait too long for one of them or for storage, else 503 and the reason). For people: /, a page
/// to watch, which asks for /status.json. Nothing of records, shares or keys: what is in progress.csv and
/// party.log, and the state of links, certificates and memory. All functions may be called by any thread;
/// without [metrics] in the party file nothing listens.
class RunMetrics {
 public:
  /// Throws ConfigError "FILE: metrics.listen: ..." where it cannot listen; as net::Inspect, naming the file,
  /// for a certificate that cannot be read.
  RunMetrics(const jobs::PartyFile& party, const std::string& party_file);

  void SetPeer(int peer, PeerState state);
  /// Whether the three have agreed on the job, and none has failed.
  void SetReady(bool ready);
  /// How long the run has waited for a peer's next message, for a call of the system (`what`), or for the
  /// program of a session, where that is too long; zero where it is not. What takes too long makes /readyz
  /// say so, with status 503.
  void SetWaiting(int peer, std::chrono::milliseconds age);
  void SetStorage(std::chrono::milliseconds age, const std::string& what);
  void SetProgram(std::chrono::milliseconds age, const std::string& what);
  /// Connections that were dropped before their handshake was over (net::MeshConfig::on_dropped).
  void SetDropped(std::uint64_t total);
  void SetStep(const ml::StepReport& report);
  /// The last of them; 0 before the first.
  [[nodiscard]] int step() const;

  void SetJob(WatchedJob job);
  void SetBudgets(std::vector<ReservedBudget> budgets);
  /// Whose last lines /status.json has; without this none. Connections that the pages dropped or could not
  /// take are said there, too.
  void SetLog(std::shared_ptr<RunLog> log);

  /// The page for a path.
  [[nodiscard]] net::HttpAnswer Answer(const std::string& path) const;

 private:
  void Log(const std::string& line);

  mutable std::mutex mutex_;
  RunStatus status_;
  std::shared_ptr<RunLog> log_;
  std::unique_ptr<net::HttpEndpoint> endpoint_;  // last: its thread uses the others
};

}  // namespace trefoil::runtime
