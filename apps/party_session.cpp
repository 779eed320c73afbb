#include "apps/party_session.h"

#include <spdlog/fmt/fmt.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/spdlog.h>

#include <iostream>
#include <utility>

#include "apps/error_report.h"
#include "apps/files.h"
#include "apps/run_directory.h"

namespace trefoil::apps {
namespace {

namespace fs = std::filesystem;

std::shared_ptr<spdlog::logger> MakeLog(const fs::path& file) {
  auto sink = std::make_shared<spdlog::sinks::basic_file_sink_mt>(file.string());
  auto log = std::make_shared<spdlog::logger>("party", std::move(sink));
  log->set_pattern("%Y-%m-%dT%H:%M:%S.%eZ %l %v", spdlog::pattern_time_type::utc);
  log->flush_on(spdlog::level::info);
  // A full disk ends the run where it is found first, with its own line; the log must not add others.
  log->set_error_handler([](const std::string&) {});
  return log;
}

net::AbortReason ReasonFor(const std::exception& error) {
  using net::AbortCode;
  if (const auto* lost = dynamic_cast<const NetworkError*>(&error)) {
    return {.code = AbortCode::kPeerLost, .about = lost->peer()};
  }
  if (dynamic_cast<const ConfigError*>(&error) != nullptr) return {.code = AbortCode::kConfiguration};
  if (dynamic_cast<const DataError*>(&error) != nullptr) return {.code = AbortCode::kData};
  if (dynamic_cast<const BudgetError*>(&error) != nullptr) return {.code = AbortCode::kBudget};
  if (dynamic_cast<const StoppedError*>(&error) != nullptr) return {.code = AbortCode::kStopped};
  return {};
}

}  // namespace

PartySession::PartySession(PartyFile party, fs::path folder, const std::string& party_file)
    : party_(std::move(party)),
      folder_(std::move(folder)),
      display_(std::cout, StdoutIsTerminal()),
      metrics_(std::make_unique<RunMetrics>(party_, party_file)) {}

void PartySession::Open(const std::string& job_toml, bool resumed) {
  if (!resumed) CheckRunDirectory(folder_);
  fs::create_directories(folder_);
  log_ = MakeLog(folder_ / "party.log");
  WriteTextFile(folder_ / "job.toml", job_toml);
}

void PartySession::Say(const std::string& line) {
  log_->info(line);
  display_.Say(line);
}

void PartySession::Log(const std::string& line) { log_->info(line); }

std::unique_ptr<net::MeshTransport> PartySession::Connect(net::MeshConfig config) {
  config.log = [log = log_](const std::string& line) { log->info(line); };
  config.on_peer = [metrics = metrics_.get()](int peer, bool connected) {
    metrics->SetPeer(peer, connected ? PeerState::kConnected : PeerState::kWaiting);
  };
  Say(fmt::format("party {}: waiting for parties {} and {}, for at most {}", party_.id, party_.peers[0].id,
                  party_.peers[1].id, SecondsText(static_cast<double>(party_.start_timeout.count()) / 1000)));
  auto mesh = net::ConnectMesh(config);
  metrics_->SetReady(true);
  Say("connected: TLS 1.3 to both, same job");
  return mesh;
}

int PartySession::Fail(const std::exception& error, net::MeshTransport* mesh, const std::string& cause) {
  metrics_->SetReady(false);
  if (const auto* lost = dynamic_cast<const NetworkError*>(&error))
    metrics_->SetPeer(lost->peer(), PeerState::kLost);
  if (mesh != nullptr) mesh->Abort(ReasonFor(error));
  log_->error(cause);
  display_.Finish();
  ReportError(cause);
  return ExitCodeOf(error);
}

std::string ExplainLoss(const NetworkError& lost, const std::string& when, bool connected) {
  const auto prefix = fmt::format("party {}: ", lost.peer());
  std::string cause = lost.what();
  if (!connected) return "before the start: " + cause;
  if (cause.starts_with(prefix)) cause.erase(0, prefix.size());
  return fmt::format("lost party {} {}: {}", lost.peer(), when, cause);
}

}  // namespace trefoil::apps
