#pragma once
#include <atomic>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/error.h"
#include "jobs/config/party_file.h"
#include "net/mesh/mesh.h"
#include "runtime/observe/progress.h"
#include "runtime/observe/run_log.h"
#include "runtime/observe/run_metrics.h"
#include "runtime/observe/run_watch.h"
#include "runtime/observe/session_log.h"

namespace trefoil::runtime {

/// What a session at a party is of.
struct SessionJob {
  std::string name;
  std::string hash;
  std::string toml;  ///< with all defaults, for job.toml
};

/// What a party of any job type has: its party file, its run directory with party.log, and what it shows.
class PartySession {
 public:
  /// Locks this process's memory where it may (LockAllMemory). Where the party file has [metrics], what the
  /// run tells is served from here on. `party_file`: its name.
  /// Throws as RunMetrics.
  PartySession(jobs::PartyFile party, std::filesystem::path folder, const std::string& party_file);

  [[nodiscard]] const jobs::PartyFile& party() const { return party_; }
  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }
  [[nodiscard]] ProgressDisplay& display() { return display_; }
  [[nodiscard]] RunMetrics& metrics() { return *metrics_; }

  /// Makes the run directory with its job.toml and party.log, and begins a session in the session log; of a
  /// resumed run, goes on with what is there. Warns in party.log if shares may be written to swap space.
  /// Throws as MakeRunDirectory, RunLog and AuditLog.
  void Open(const SessionJob& job, bool resumed = false);

  /// To party.log and stdout, once it is open.
  void Say(const std::string& line);
  /// The same for what needs attention; "warning: LINE" on stdout.
  void Warn(const std::string& line);
  /// What the data says, for its owner's eyes alone, a line each: to standard error, and to
  /// owner_warnings.txt, a file of mode 0600 in the run directory, behind what was said before. After Open.
  /// Throws std::runtime_error where it cannot be written.
  void WarnOwner(const std::vector<std::string>& lines);
  /// The same of what is nothing odd: to that file alone.
  void NoteForOwner(const std::vector<std::string>& lines);
  /// To party.log alone.
  void Log(const std::string& line, jobs::LogLevel level = jobs::LogLevel::kInfo);

  /// Meets the peers. Throws as net::ConnectMesh and AuditLog::Connected.
  net::MeshTransport& Connect(net::MeshConfig config);
  [[nodiscard]] bool connected() const { return links_ != nullptr; }
  /// Null where they are not: until Connect has what looks after the run, and from Disconnect on. By any
  /// thread, which must not use them beyond Disconnect.
  [[nodiscard]] const net::MeshTransport* links() const { return links_; }
  /// Whether any peer came to meet this party, though it may have gone again.
  [[nodiscard]] bool met_a_peer() const { return *met_a_peer_; }
  /// After Connect: what looks after the run.
  [[nodiscard]] RunWatch& watch() { return *watch_; }

  /// After Open: what opens to this party, for auditors, and that all has ended well.
  [[nodiscard]] AuditLog& audit() { return *audit_; }
  /// The salt of hashes in the session log: of the run directory, one for all its sessions, made where there
  /// is none (data.salt, mode 0600). Throws ConfigError, std::runtime_error.
  [[nodiscard]] std::string AuditSalt() const;
  /// AuditedSession::data of this session. Throws as AuditSalt and data::DataHash.
  [[nodiscard]] std::string SaltedDataHash() const;
  /// The session log's file.
  [[nodiscard]] std::filesystem::path AuditFile() const;
  void Done();
  /// After Done: ends the links, if there are any yet. Nothing that peers may see comes after it.
  void Disconnect();

  /// For an error before Connect: tells the operator; then, where they would wait in vain (bad data, no disk,
  /// no memory, no budget), the peers that come within three seconds.
  void FailBeforeStart(int code, net::AbortReason reason, const std::string& cause,
                       const net::MeshConfig& config);
  /// The part of it that is for the peers. By any thread.
  void TellBeforeStart(net::AbortReason reason, const net::MeshConfig& config) const;

  /// Tells the connected peers and auditors of a failure, and the operator in `cause`.
  void Fail(int code, net::AbortReason reason, const std::string& cause);
  /// The part of Fail that is for party.log and auditors: of an error of data not its text, which may tell of
  /// records. After Open; by any thread.
  void NoteFailure(int code, net::AbortReason reason, const std::string& cause);

 private:
  /// Returns the text that it has written.
  std::string KeepForOwner(const char* kind, const std::vector<std::string>& lines);

  bool memory_locked_;  // first: before there are threads and secrets
  jobs::PartyFile party_;
  std::filesystem::path folder_;
  std::string told_owner_{};
  std::shared_ptr<RunLog> log_;  // the links' thread logs, too
  ProgressDisplay display_;
  std::unique_ptr<RunMetrics> metrics_;
  std::unique_ptr<AuditLog> audit_;
  std::shared_ptr<std::atomic<bool>> met_a_peer_ = std::make_shared<std::atomic<bool>>(false);
  std::unique_ptr<net::MeshTransport> mesh_;               // after log and metrics, which its thread uses
  std::unique_ptr<RunWatch> watch_;                        // after the others, which its threads use
  std::atomic<const net::MeshTransport*> links_{nullptr};  // mesh_, once there is watch_, too
};

/// A failed link as the operator reads it: "lost party 1 WHEN: closed the connection", or
/// "before the start: party 1: ..." where there were no links yet. `rank`: of a party of several machines,
/// "lost rank 3 of party 1", "before the start: rank 3 of party 1: ..."; but what a party says of itself
/// before the start, its rank 0 says of all of it.
[[nodiscard]] std::string ExplainLoss(const NetworkError& lost, const std::string& when, bool connected,
                                      std::optional<int> rank = {});

}  // namespace trefoil::runtime
