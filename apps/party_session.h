#pragma once
#include <spdlog/fwd.h>

#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>

#include "apps/party_file.h"
#include "apps/progress.h"
#include "apps/run_metrics.h"
#include "base/error.h"
#include "net/mesh.h"

namespace trefoil::apps {

/// The operator told this process to stop.
class StoppedError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// What a party of any job type has: its party file, its run directory with party.log, and what it shows.
class PartySession {
 public:
  /// Where the party file has [metrics], what the run tells is served from here on. `party_file`: its name.
  /// Throws as RunMetrics.
  PartySession(PartyFile party, std::filesystem::path folder, const std::string& party_file);

  [[nodiscard]] const PartyFile& party() const { return party_; }
  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }
  [[nodiscard]] ProgressDisplay& display() { return display_; }
  [[nodiscard]] RunMetrics& metrics() { return *metrics_; }

  /// Makes the run directory with its job.toml and party.log; of a resumed run, goes on with the one that is
  /// there. Throws as MakeRunDirectory.
  void Open(const std::string& job_toml, bool resumed = false);

  /// To party.log and stdout, once it is open.
  void Say(const std::string& line);
  /// To party.log alone.
  void Log(const std::string& line);

  /// Throws as net::ConnectMesh.
  [[nodiscard]] std::unique_ptr<net::MeshTransport> Connect(net::MeshConfig config);

  /// Tells the connected peers of a failure, and the operator in `cause`. Returns the exit code.
  int Fail(const std::exception& error, net::MeshTransport* mesh, const std::string& cause);

 private:
  PartyFile party_;
  std::filesystem::path folder_;
  std::shared_ptr<spdlog::logger> log_;
  ProgressDisplay display_;
  std::unique_ptr<RunMetrics> metrics_;
};

/// A failed link as the operator reads it: "lost party 1 WHEN: closed the connection", or
/// "before the start: ..." where there were no links yet.
[[nodiscard]] std::string ExplainLoss(const NetworkError& lost, const std::string& when, bool connected);

}  // namespace trefoil::apps
