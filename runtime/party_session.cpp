#include "runtime/party_session.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <utility>

#include "base/console.h"
#include "base/error.h"
#include "base/error_report.h"
#include "base/files/files.h"
#include "base/secrets/locked_memory.h"
#include "base/secrets/random.h"
#include "base/secrets/sha256.h"
#include "data/dataset/data_hash.h"
#include "jobs/statement/amount_text.h"
#include "runtime/abort_reason.h"
#include "runtime/machine_check.h"
#include "runtime/run_directory.h"
#include "runtime/stop_signals.h"

namespace trefoil::runtime {
namespace {

namespace fs = std::filesystem;

/// For peers that wait already: the pause before they dial again is at most a second.
constexpr std::chrono::seconds kTelling{3};

/// What an operator corrects while the peers go on waiting; they need not begin anew.
bool MendsSoon(net::AbortCode code) {
  return code == net::AbortCode::kConfiguration || code == net::AbortCode::kInternal;
}

/// A cause as party.log and the page of [metrics] have it, which others than the data's owner may read.
std::string LoggedCause(int code, const std::string& cause) {
  return code == kData ? "an error of data (exit code 4), which standard error alone tells" : cause;
}

std::array<std::string, net::kParties> Fingerprints(const jobs::PartyFile& party) {
  std::array<std::string, net::kParties> fingerprints;
  const auto read = [&](int id, const fs::path& file) {
    fingerprints.at(static_cast<std::size_t>(id)) = net::Fingerprint(ReadTextFile(file, "a certificate"));
  };
  read(party.id, party.certificate);
  for (const auto& peer : party.peers) read(peer.id, peer.certificate);
  return fingerprints;
}

}  // namespace

PartySession::PartySession(jobs::PartyFile party, fs::path folder, const std::string& party_file)
    : memory_locked_(LockAllMemory()),
      party_(std::move(party)),
      folder_(std::move(folder)),
      display_(StandardOutput().stream(),
               StdoutIsTerminal() && party_.ranks == 1),  // mpirun gives ranks one of its own
      metrics_(std::make_unique<RunMetrics>(party_, party_file)) {}

void PartySession::Open(const SessionJob& job, bool resumed) {
  if (!resumed) CheckRunDirectory(folder_);
  fs::create_directories(folder_);
  log_ = std::make_shared<RunLog>(folder_ / "party.log", party_.log, party_.id);
  metrics_->SetLog(log_);
  WriteTextFile(folder_ / "job.toml", job.toml);
  audit_ = std::make_unique<AuditLog>(AuditFile(), AuditedSession{.party = party_.id,
                                                                  .job = job.name,
                                                                  .job_hash = job.hash,
                                                                  .data = SaltedDataHash(),
                                                                  .fingerprints = Fingerprints(party_)});
  Log("job hash " + job.hash);
  if (const auto warning = SwapWarning(memory_locked_); !warning.empty())
    Log(warning, jobs::LogLevel::kWarning);
}

/// Salted, else whoever reads the log could test guesses of the data.
std::string PartySession::SaltedDataHash() const {
  return party_.data.empty() ? "" : Sha256Hex(AuditSalt() + data::DataHash(party_.data));
}

fs::path PartySession::AuditFile() const {
  return party_.log.audit.empty() ? folder_ / "audit.jsonl" : party_.log.audit;
}

std::string PartySession::AuditSalt() const {
  const auto file = folder_ / kDataSalt;
  std::array<std::uint8_t, 32> fresh{};
  FillRandom(fresh);
  auto salt = fs::exists(file) ? ReadTextFile(file, "the salt of a session log") : std::string();
  if (salt.size() != ToHex(fresh).size()) {  // none yet, or one whose writing was interrupted
    salt = ToHex(fresh);
    ReplaceSecretFile(file, salt);
  }
  return salt;
}

void PartySession::Say(const std::string& line) {
  Log(line);
  display_.Say(line);
}

void PartySession::Warn(const std::string& line) {
  Log(line, jobs::LogLevel::kWarning);
  display_.Say("warning: " + line);
}

std::string PartySession::KeepForOwner(const char* kind, const std::vector<std::string>& lines) {
  std::string text;
  for (const auto& line : lines) text += fmt::format("{} to the owner alone: {}\n", kind, OneLine(line));
  told_owner_ += text;
  if (told_owner_.empty()) fs::remove(folder_ / kOwnerWarnings);  // those of an attempt before
  if (!text.empty()) ReplaceSecretFile(folder_ / kOwnerWarnings, told_owner_);
  return text;
}

void PartySession::WarnOwner(const std::vector<std::string>& lines) {
  const auto text = KeepForOwner("warning", lines);
  if (text.empty()) return;
  display_.Finish();
  StandardError().Write(text);
}

void PartySession::NoteForOwner(const std::vector<std::string>& lines) { (void)KeepForOwner("note", lines); }

void PartySession::Log(const std::string& line, jobs::LogLevel level) { log_->Write(level, line); }

net::MeshTransport& PartySession::Connect(net::MeshConfig config) {
  config.log = [log = log_](const std::string& line) { log->Write(jobs::LogLevel::kInfo, line); };
  config.on_peer = [metrics = metrics_.get(), met = met_a_peer_](int peer, bool connected) {
    if (connected) *met = true;
    metrics->SetPeer(peer, connected ? PeerState::kConnected : PeerState::kWaiting);
  };
  config.on_dropped = [metrics = metrics_.get()](std::uint64_t total) { metrics->SetDropped(total); };
  Say(fmt::format("party {}: waiting for parties {} and {}, for at most {}", party_.id, party_.peers[0].id,
                  party_.peers[1].id,
                  jobs::SecondsText(static_cast<double>(party_.start_timeout.count()) / 1000)));
  mesh_ = net::ConnectMesh(config);
  NoteStopSignals();  // until now there was nobody to tell
  watch_ = std::make_unique<RunWatch>(
      *mesh_, metrics_.get(), party_.peer_timeout,
      [log = log_](const std::string& line) {  // stdout first: the log may lie on the storage that hangs
        StandardOutput().Write("warning: " + OneLine(line) + "\n");
        log->Write(jobs::LogLevel::kWarning, line);
      });
  links_ = mesh_.get();
  metrics_->SetReady(true);
  Say("connected: TLS 1.3 to both, same job");
  const auto id = ToHex(mesh_->session());
  Log("session " + id, jobs::LogLevel::kDebug);
  audit_->Connected(id);
  return *mesh_;
}

void PartySession::Done() {
  const auto hash = audit_->Done();
  Log(fmt::format("audit log {}, line hash {}", audit_->file().string(), hash));
}

void PartySession::Disconnect() {
  links_ = nullptr;
  watch_.reset();
  mesh_.reset();
}

void PartySession::Fail(int code, net::AbortReason reason, const std::string& cause) {
  metrics_->SetReady(false);
  if (reason.code == net::AbortCode::kPeerLost) metrics_->SetPeer(reason.about, PeerState::kLost);
  if (mesh_) mesh_->Abort(reason);
  display_.Finish();
  ReportError(cause);
  NoteFailure(code, reason, cause);
}

void PartySession::NoteFailure(int code, net::AbortReason reason, const std::string& cause) {
  Log(LoggedCause(code, cause), jobs::LogLevel::kError);
  try {
    (void)audit_->Failed(code, reason);
  } catch (const std::exception& second) {  // such as the full disk that ended the run
    Log(std::string("audit log: ") + second.what(), jobs::LogLevel::kError);
  }
}

void PartySession::FailBeforeStart(int code, net::AbortReason reason, const std::string& cause,
                                   const net::MeshConfig& config) {
  if (log_) Log(LoggedCause(code, cause), jobs::LogLevel::kError);
  ReportError(cause);
  try {
    if (audit_) (void)audit_->Failed(code, reason);
  } catch (const std::exception&) {  // the operator knows the first cause
  }
  TellBeforeStart(reason, config);
}

void PartySession::TellBeforeStart(net::AbortReason reason, const net::MeshConfig& config) const {
  if (MendsSoon(reason.code)) return;
  try {
    (void)net::RefuseMesh(config, reason,
                          std::min<std::chrono::milliseconds>(party_.start_timeout, kTelling));
  } catch (const std::exception&) {  // the peers wait in vain
  }
}

std::string ExplainLoss(const NetworkError& lost, const std::string& when, bool connected,
                        std::optional<int> rank) {
  const auto prefix = fmt::format("party {}: ", lost.peer());
  const auto of_it = rank ? fmt::format("rank {} of ", *rank) : std::string();
  std::string cause = lost.what();
  const bool named = cause.starts_with(prefix);
  if (!connected) {
    const bool of_party = dynamic_cast<const net::AbortedError*>(&lost) != nullptr;
    return fmt::format("before the start: {}{}", named && !of_party ? of_it : "", cause);
  }
  if (named) cause.erase(0, prefix.size());
  return fmt::format("lost {}party {} {}: {}", of_it, lost.peer(), when, cause);
}

}  // namespace trefoil::runtime
