#pragma once
#include <array>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "jobs/job.h"
#include "net/transport.h"
#include "runtime/resume/chain_file.h"

namespace trefoil::runtime {

/// What begins at a party: public among the three, and of its data a salted hash.
struct AuditedSession {
  int party = 0;
  std::string job;       ///< its name
  std::string job_hash;  ///< SHA-256, in hexadecimal
  std::string data;      ///< salted SHA-256 of the files of [data] (docs/reference/formats.md), or empty
  std::array<std::string, net::kParties> fingerprints;  ///< of each party's certificate
};

/// The session log, audit.jsonl: a party's account of its sessions, for auditors: who took part in which job
/// with which data, what was released, and why it ended. Chained lines (dp/ledger/ledger_chain.h), on disk as
/// they are written; several processes, and any thread, may write to one file. Nothing is written behind a
/// session's end. An entry has `kind`, `session` (an id of the session at this party) and `time`:
///   "session":   before the peers are met: `version`, `party`, `job`, `job_hash`, `data`, `certificates`
///   "connected": `id`, the session's id at all three
///   "release":   something opened to this party: `what`, and its `value`, or `sha256` of its file or numbers;
///                of a file for this party's eyes alone, whose contents a reader of the log could guess,
///                `salted_sha256`
///   "end":       `outcome`: "done", or "failed" with `exit_code` and `reason` (a code, never a text)
class AuditLog {
 public:
  /// Begins a session. Throws as ChainFile.
  AuditLog(const std::filesystem::path& file, const AuditedSession& session);

  // All throw as ChainFile::Append.
  void Connected(const std::string& id);
  void ReleasedFile(const std::string& what, const std::filesystem::path& file);
  /// `salt`: 64 hexadecimal digits, as of AuditedSession's data.
  void ReleasedSecretFile(const std::string& what, const std::filesystem::path& file,
                          const std::string& salt);
  /// A line each, on disk together, as ChainFile::AppendAll.
  void Released(const std::vector<jobs::ReleasedValue>& values);
  /// Returns the newest line's hash.
  std::string Done();
  std::string Failed(int exit_code, const net::AbortReason& reason);

  [[nodiscard]] const std::filesystem::path& file() const { return chain_.file(); }

 private:
  void Write(nlohmann::json entry);
  void WriteAll(std::vector<nlohmann::json> entries);

  std::string session_;
  std::mutex mutex_;  // guards the next two
  bool ended_ = false;
  ChainFile chain_;
};

/// A whole session log as it is on disk.
struct AuditView {
  std::size_t lines = 0;
  std::string head;      ///< hash of the newest line
  std::size_t torn = 0;  ///< bytes of a line at the end that was not written to its end
  std::size_t sessions = 0;
  std::size_t open = 0;  ///< sessions without an end: under way, killed, or cut off
  std::size_t releases = 0;
};

/// Reads a session log, and changes nothing. Throws ConfigError for a file that cannot be read; DataError
/// "FILE: line N: found X, expected Y" for one that is none, or was changed.
[[nodiscard]] AuditView ReadAuditLog(const std::filesystem::path& file);

/// What began the session that met its peers as `id`, the session's id at all three: once for each party that
/// writes this log. Leaves out what a log of version 1 says, whose hashes have no salt. Throws as
/// ReadAuditLog.
[[nodiscard]] std::vector<AuditedSession> SessionsMetAs(const std::filesystem::path& file,
                                                        const std::string& id);

/// Whether the file begins as a session log does, and not as a ledger; false where it cannot be read.
[[nodiscard]] bool IsAuditLog(const std::filesystem::path& file);

}  // namespace trefoil::runtime
