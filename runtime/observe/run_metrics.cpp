#include "runtime/observe/run_metrics.h"

#include <spdlog/fmt/fmt.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <utility>

#include "base/error.h"
#include "base/files.h"
#include "base/passing_error.h"
#include "net/link/certificate.h"

namespace trefoil::runtime {
namespace {

/// One metric with its help, in Prometheus' text format.
class Page {
 public:
  void Describe(const char* name, const char* type, const char* help) {
    text_ += fmt::format("# HELP {0} {2}\n# TYPE {0} {1}\n", name, type, help);
  }
  void Add(const char* name, const std::string& labels, double value) {
    const auto number = std::isinf(value) ? std::string("+Inf") : fmt::format("{}", value);
    text_ += fmt::format("{}{} {}\n", name, labels.empty() ? "" : "{" + labels + "}", number);
  }
  void Single(const char* name, const char* type, const char* help, double value) {
    Describe(name, type, help);
    Add(name, "", value);
  }
  std::string Take() { return std::move(text_); }

 private:
  std::string text_;
};

double ResidentBytes() {
  std::ifstream stream("/proc/self/statm");
  double all = 0;
  double resident = 0;
  stream >> all >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE));
}

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

constexpr std::array<std::pair<PeerState, const char*>, 3> kPeerStates{
    {{PeerState::kWaiting, "waiting"}, {PeerState::kConnected, "connected"}, {PeerState::kLost, "lost"}}};

}  // namespace

RunMetrics::RunMetrics(const jobs::PartyFile& party, const std::string& party_file) : self_(party.id) {
  if (!party.metrics) return;
  certificates_ = ExpiriesOf(party);
  try {
    endpoint_ = std::make_unique<net::HttpEndpoint>(party.metrics->host, party.metrics->port,
                                                    [this](const std::string& path) { return Answer(path); });
  } catch (const PassingError& error) {
    throw PassingError(fmt::format("{}: metrics.listen: {}", party_file, error.what()));
  } catch (const ConfigError& error) {
    throw ConfigError(fmt::format("{}: metrics.listen: {}", party_file, error.what()));
  }
}

void RunMetrics::SetPeer(int peer, PeerState state) {
  const std::lock_guard lock(mutex_);
  peers_.at(static_cast<std::size_t>(peer)) = state;
}

void RunMetrics::SetReady(bool ready) {
  const std::lock_guard lock(mutex_);
  ready_ = ready;
}

void RunMetrics::SetWaiting(int peer, std::chrono::milliseconds age) {
  const std::lock_guard lock(mutex_);
  waiting_.at(static_cast<std::size_t>(peer)) = age;
}

void RunMetrics::SetStorage(std::chrono::milliseconds age, const std::string& what) {
  const std::lock_guard lock(mutex_);
  storage_ = age;
  storage_call_ = what;
}

void RunMetrics::SetDropped(std::uint64_t total) {
  const std::lock_guard lock(mutex_);
  dropped_ = total;
}

void RunMetrics::SetStep(const ml::StepReport& report, const std::array<std::uint64_t, net::kParties>& sent) {
  const std::lock_guard lock(mutex_);
  report_ = report;
  sent_ = sent;
}

net::HttpAnswer RunMetrics::Answer(const std::string& path) const {
  if (path == "/metrics") return {.status = 200, .body = Text()};
  if (path == "/healthz") return {.status = 200, .body = "ok\n"};
  if (path != "/readyz") return {.status = 404, .body = "no such page: /metrics, /healthz or /readyz\n"};
  const std::lock_guard lock(mutex_);
  const auto obstacle = Obstacle();
  if (obstacle.empty()) return {.status = 200, .body = "ok\n"};
  return {.status = 503, .body = obstacle + "\n"};
}

std::string RunMetrics::Obstacle() const {
  if (!ready_) return "not connected to both peers";
  if (storage_.count() > 0) return fmt::format("{} has taken {} s", storage_call_, storage_.count() / 1000);
  const auto longest = std::max_element(waiting_.begin(), waiting_.end());
  if (longest->count() == 0) return {};
  return fmt::format("waiting {} s for party {}", longest->count() / 1000, longest - waiting_.begin());
}

std::string RunMetrics::Text() const {
  const std::lock_guard lock(mutex_);
  Page page;
  page.Single("trefoil_step", "gauge", "Steps of the training that are done.", report_.step);
  page.Single("trefoil_steps", "gauge", "Steps of the training.", report_.steps);
  page.Single("trefoil_rounds_total", "counter", "Rounds of communication since the run began.",
              static_cast<double>(report_.rounds));
  page.Describe("trefoil_bytes_sent_total", "counter", "Payload bytes sent to a peer in this session.");
  for (int peer = 0; peer < net::kParties; ++peer) {
    if (peer != self_)
      page.Add("trefoil_bytes_sent_total", fmt::format("peer=\"{}\"", peer),
               static_cast<double>(sent_.at(static_cast<std::size_t>(peer))));
  }
  page.Describe("trefoil_epsilon", "gauge", "Epsilon of what has been executed, at the job's delta.");
  page.Add("trefoil_epsilon", "adversary=\"outsider\"", report_.epsilon_outsider);
  page.Add("trefoil_epsilon", "adversary=\"insider\"", report_.epsilon_insider);
  page.Single("trefoil_ready", "gauge", "1 while both peers take part in the job and it gets on, else 0.",
              Obstacle().empty() ? 1 : 0);
  page.Describe("trefoil_waiting_seconds", "gauge",
                "How long the run has waited for a peer, where that is longer than timeouts.peer; else 0.");
  for (int peer = 0; peer < net::kParties; ++peer) {
    if (peer != self_)
      page.Add("trefoil_waiting_seconds", fmt::format("peer=\"{}\"", peer),
               std::chrono::duration<double>(waiting_.at(static_cast<std::size_t>(peer))).count());
  }
  page.Single("trefoil_storage_seconds", "gauge",
              "How long a call to storage has taken, where that is longer than timeouts.peer; else 0.",
              std::chrono::duration<double>(storage_).count());
  page.Describe("trefoil_peer_state", "gauge", "1 for the state that a peer is in, 0 for the others.");
  for (int peer = 0; peer < net::kParties; ++peer) {
    if (peer == self_) continue;
    for (const auto& [state, name] : kPeerStates) {
      page.Add("trefoil_peer_state", fmt::format("peer=\"{}\",state=\"{}\"", peer, name),
               peers_.at(static_cast<std::size_t>(peer)) == state ? 1 : 0);
    }
  }
  page.Single("trefoil_connections_dropped_total", "counter",
              "Connections dropped before their handshake was over, to make room for others.",
              static_cast<double>(dropped_));
  page.Single("trefoil_resident_memory_bytes", "gauge", "Memory of this process.", ResidentBytes());
  page.Describe("trefoil_certificate_expiry_timestamp_seconds", "gauge",
                "When a party's certificate expires, in seconds since 1970.");
  for (const auto& one : certificates_) {
    page.Add("trefoil_certificate_expiry_timestamp_seconds", fmt::format("party=\"{}\"", one.party),
             static_cast<double>(one.unix_seconds));
  }
  return page.Take();
}

}  // namespace trefoil::runtime
