#include "runtime/observe/run_metrics.h"

#include <spdlog/fmt/fmt.h>

#include <chrono>
#include <utility>

#include "base/error.h"
#include "base/files/files.h"
#include "base/passing_error.h"
#include "net/certificates/certificate.h"
#include "runtime/observe/status_page.h"

namespace trefoil::runtime {
namespace {

CertificateExpiry ExpiryOf(int party, const std::filesystem::path& file) {
  try {
    const auto info = net::Inspect(ReadTextFile(file, "a certificate"));
    return {.party = party,
            .unix_seconds =
                std::chrono::duration_cast<std::chrono::seconds>(info.not_after.time_since_epoch()).count()};
  } catch (const ConfigError& error) {
    throw ConfigError(fmt::format("{}: {}", file.string(), error.what()));
  }
}

std::vector<CertificateExpiry> ExpiriesOf(const jobs::PartyFile& party) {
  std::vector<CertificateExpiry> expiries{ExpiryOf(party.id, party.certificate)};
  for (const auto& peer : party.peers) expiries.push_back(ExpiryOf(peer.id, peer.certificate));
  return expiries;
}

}  // namespace

RunMetrics::RunMetrics(const jobs::PartyFile& party, const std::string& party_file) {
  status_.self = party.id;
  status_.ranks = party.ranks;
  if (!party.metrics) return;
  status_.certificates = ExpiriesOf(party);
  try {
    endpoint_ = std::make_unique<net::HttpEndpoint>(
        party.metrics->listen.host, party.metrics->listen.port,
        [this](const std::string& path) { return Answer(path); },
        [this](const std::string& line) { Log(line); });
  } catch (const PassingError& error) {
    throw PassingError(fmt::format("{}: metrics.listen: {}", party_file, error.what()));
  } catch (const ConfigError& error) {
    throw ConfigError(fmt::format("{}: metrics.listen: {}", party_file, error.what()));
  }
}

void RunMetrics::SetPeer(int peer, PeerState state) {
  const std::lock_guard lock(mutex_);
  status_.peers.at(static_cast<std::size_t>(peer)) = state;
}

void RunMetrics::SetReady(bool ready) {
  const std::lock_guard lock(mutex_);
  status_.ready = ready;
}

void RunMetrics::SetWaiting(int peer, std::chrono::milliseconds age) {
  const std::lock_guard lock(mutex_);
  status_.waiting.at(static_cast<std::size_t>(peer)) = age;
}

void RunMetrics::SetStorage(std::chrono::milliseconds age, const std::string& what) {
  const std::lock_guard lock(mutex_);
  status_.storage = age;
  status_.storage_call = what;
}

void RunMetrics::SetProgram(std::chrono::milliseconds age, const std::string& what) {
  const std::lock_guard lock(mutex_);
  status_.program = age;
  status_.program_call = what;
}

void RunMetrics::SetDropped(std::uint64_t total) {
  const std::lock_guard lock(mutex_);
  status_.dropped = total;
}

void RunMetrics::SetStep(const ml::StepReport& report) {
  const std::lock_guard lock(mutex_);
  status_.report = report;
  status_.course.Add(report);
}

int RunMetrics::step() const {
  const std::lock_guard lock(mutex_);
  return status_.report.step;
}

void RunMetrics::SetJob(WatchedJob job) {
  const std::lock_guard lock(mutex_);
  status_.job = std::move(job);
}

void RunMetrics::SetBudgets(std::vector<ReservedBudget> budgets) {
  const std::lock_guard lock(mutex_);
  status_.budgets = std::move(budgets);
}

void RunMetrics::SetLog(std::shared_ptr<RunLog> log) {
  const std::lock_guard lock(mutex_);
  log_ = std::move(log);
}

void RunMetrics::Log(const std::string& line) {
  std::shared_ptr<RunLog> log;
  {
    const std::lock_guard lock(mutex_);
    if (status_.storage.count() == 0) log = log_;  // on storage that hangs the pages would wait for the line
  }
  if (log) log->Write(jobs::LogLevel::kWarning, line);
}

net::HttpAnswer RunMetrics::Answer(const std::string& path) const {
  if (path == "/healthz") return {.body = "ok\n"};
  if (path == "/") return StatusPage();
  const std::lock_guard lock(mutex_);
  if (path == "/metrics") return {.body = MetricsText(status_)};
  if (path == "/status.json")
    return StatusAnswer(StatusJson(status_, log_ ? log_->LastLines() : std::vector<std::string>()));
  if (path != "/readyz")
    return {.status = 404, .body = "no such page: /, /status.json, /metrics, /healthz or /readyz\n"};
  const auto obstacle = Obstacle(status_);
  if (obstacle.empty()) return {.body = "ok\n"};
  return {.status = 503, .body = obstacle + "\n"};
}

}  // namespace trefoil::runtime
