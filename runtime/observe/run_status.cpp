#include "runtime/observe/run_status.h"

#include <spdlog/fmt/fmt.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <optional>
#include <utility>

#include "dp/record/json_number.h"
#include "jobs/statement/amount_text.h"
#include "runtime/observe/progress.h"

namespace trefoil::runtime {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr std::size_t kMaxPoints = 240;  // even
constexpr double kRecently = 30;         // seconds

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

constexpr std::array<std::pair<PeerState, const char*>, 3> kPeerStates{
    {{PeerState::kWaiting, "waiting"}, {PeerState::kConnected, "connected"}, {PeerState::kLost, "lost"}}};

const char* NameOf(PeerState state) {
  return std::find_if(kPeerStates.begin(), kPeerStates.end(),
                      [&](const auto& one) { return one.first == state; })
      ->second;
}

double Seconds(std::chrono::milliseconds time) { return std::chrono::duration<double>(time).count(); }

OrderedJson Figure(double value, const std::string& text) {
  return {{"value", dp::NumberOrNull(value)}, {"text", text}};
}

OrderedJson EpsilonFigure(double epsilon) { return Figure(epsilon, jobs::EpsilonText(epsilon)); }

OrderedJson Bytes(double count) { return Figure(count, jobs::BytesText(static_cast<std::uint64_t>(count))); }

OrderedJson Duration(double seconds) { return Figure(seconds, jobs::SecondsText(seconds)); }

OrderedJson JobJson(const WatchedJob& job) {
  return {{"name", job.name}, {"type", job.type}, {"title", job.title}, {"hash", job.hash}};
}

OrderedJson ProgressJson(const ml::StepReport& report) {
  const auto left = SecondsLeft(report);
  return {{"step", report.step},
          {"steps", report.steps},
          {"seconds", Duration(report.seconds)},
          {"left", left ? Duration(*left) : OrderedJson(nullptr)},
          {"rounds", report.rounds},
          {"bytes_sent", Bytes(static_cast<double>(report.bytes_sent))}};
}

/// A second's steps, rounds and bytes of late; null before there are any.
OrderedJson PaceJson(const RunStatus& status) {
  const auto& points = status.course.points();
  if (points.empty()) return nullptr;
  const auto& now = points.back();
  const auto found = std::find_if(points.rbegin(), points.rend(), [&](const auto& point) {
    return now.seconds - point.seconds >= kRecently;
  });
  const auto& from = found == points.rend() ? points.front() : *found;
  const double span = now.seconds - from.seconds;
  if (span <= 0) return nullptr;
  const auto steps = (now.step - from.step) / span;
  return {{"steps", Figure(steps, fmt::format("{:.3g}", steps))},
          {"rounds", static_cast<double>(now.rounds - from.rounds) / span},
          {"bytes_sent", Bytes(static_cast<double>(now.bytes_sent - from.bytes_sent) / span)}};
}

OrderedJson EpsilonsJson(const RunStatus& status) {
  const auto& job = status.job;
  const auto& report = status.report;
  return {
      {"first", job.first == jobs::FirstEpsilon::kInsider ? "insider" : "outsider"},
      {"outsider",
       {{"now", EpsilonFigure(report.epsilon_outsider)}, {"planned", EpsilonFigure(job.planned.outsider)}}},
      {"insider",
       {{"now", EpsilonFigure(report.epsilon_insider)}, {"planned", EpsilonFigure(job.planned.insider)}}},
      {"delta", Figure(job.delta, jobs::DeltaText(job.delta))},
      {"covered", job.covered}};
}

OrderedJson BudgetsJson(const RunStatus& status) {
  auto all = OrderedJson::array();
  for (const auto& budget : status.budgets)
    all.push_back({{"what", budget.what},
                   {"spent", EpsilonFigure(budget.answer.spent)},
                   {"after", EpsilonFigure(budget.answer.after)},
                   {"cap", Figure(budget.epsilon_cap, fmt::format("{}", budget.epsilon_cap))},
                   {"delta", Figure(budget.delta, jobs::DeltaText(budget.delta))}});
  return all;
}

OrderedJson PeersJson(const RunStatus& status) {
  auto all = OrderedJson::array();
  for (std::size_t peer = 0; peer < status.peers.size(); ++peer) {
    if (static_cast<int>(peer) == status.self) continue;
    all.push_back({{"party", peer},
                   {"state", NameOf(status.peers.at(peer))},
                   {"waiting", Duration(Seconds(status.waiting.at(peer)))},
                   {"bytes_sent", Bytes(static_cast<double>(status.report.bytes_sent_to.at(peer)))}});
  }
  return all;
}

OrderedJson CourseJson(const RunStatus& status) {
  auto all = OrderedJson::array();
  for (const auto& point : status.course.points())
    all.push_back(
        {point.step, dp::NumberOrNull(point.epsilon_outsider), dp::NumberOrNull(point.epsilon_insider)});
  return all;
}

}  // namespace

void Course::Add(const ml::StepReport& report) {
  if (!last_stays_) points_.pop_back();
  last_stays_ = added_++ % stride_ == 0;
  points_.push_back(report);
  if (points_.size() <= kMaxPoints || !last_stays_) return;
  for (std::size_t k = 1; 2 * k < points_.size(); ++k) points_[k] = points_[2 * k];
  points_.resize(kMaxPoints / 2 + 1);
  stride_ *= 2;
}

std::string Obstacle(const RunStatus& status) {
  if (!status.ready) return "not connected to both peers";
  if (status.storage.count() > 0)
    return fmt::format("{} has taken {} s", status.storage_call, status.storage.count() / 1000);
  if (status.program.count() > 0)
    return fmt::format("{} has taken {} s", status.program_call, status.program.count() / 1000);
  const auto longest = std::max_element(status.waiting.begin(), status.waiting.end());
  if (longest->count() == 0) return {};
  return fmt::format("waiting {} s for party {}", longest->count() / 1000, longest - status.waiting.begin());
}

std::string MetricsText(const RunStatus& status) {
  Page page;
  page.Single("trefoil_step", "gauge", "Steps of the training that are done.", status.report.step);
  page.Single("trefoil_steps", "gauge", "Steps of the training.", status.report.steps);
  page.Single("trefoil_rounds_total", "counter", "Rounds of communication since the run began.",
              static_cast<double>(status.report.rounds));
  page.Describe("trefoil_bytes_sent_total", "counter", "Payload bytes sent to a peer in this session.");
  for (int peer = 0; peer < net::kParties; ++peer) {
    if (peer != status.self)
      page.Add("trefoil_bytes_sent_total", fmt::format("peer=\"{}\"", peer),
               static_cast<double>(status.report.bytes_sent_to.at(static_cast<std::size_t>(peer))));
  }
  page.Describe("trefoil_epsilon", "gauge", "Epsilon of what has been executed, at the job's delta.");
  page.Add("trefoil_epsilon", "adversary=\"outsider\"", status.report.epsilon_outsider);
  page.Add("trefoil_epsilon", "adversary=\"insider\"", status.report.epsilon_insider);
  page.Single("trefoil_ready", "gauge", "1 while both peers take part in the job and it gets on, else 0.",
              Obstacle(status).empty() ? 1 : 0);
  page.Describe("trefoil_waiting_seconds", "gauge",
                "How long the run has waited for a peer, where that is longer than timeouts.peer; else 0.");
  for (int peer = 0; peer < net::kParties; ++peer) {
    if (peer != status.self)
      page.Add("trefoil_waiting_seconds", fmt::format("peer=\"{}\"", peer),
               Seconds(status.waiting.at(static_cast<std::size_t>(peer))));
  }
  page.Single("trefoil_storage_seconds", "gauge",
              "How long a call to storage has taken, where that is longer than timeouts.peer; else 0.",
              Seconds(status.storage));
  page.Single("trefoil_program_seconds", "gauge",
              "How long the program of a session has taken, where that is longer than timeouts.peer; else 0.",
              Seconds(status.program));
  page.Describe("trefoil_peer_state", "gauge", "1 for the state that a peer is in, 0 for the others.");
  for (int peer = 0; peer < net::kParties; ++peer) {
    if (peer == status.self) continue;
    for (const auto& [state, name] : kPeerStates) {
      page.Add("trefoil_peer_state", fmt::format("peer=\"{}\",state=\"{}\"", peer, name),
               status.peers.at(static_cast<std::size_t>(peer)) == state ? 1 : 0);
    }
  }
  page.Single("trefoil_connections_dropped_total", "counter",
              "Connections dropped before their handshake was over, to make room for others.",
              static_cast<double>(status.dropped));
  page.Single("trefoil_ranks", "gauge", "Machines of this party, of which this is the first.", status.ranks);
  page.Single("trefoil_resident_memory_bytes", "gauge", "Memory of this process.", ResidentBytes());
  page.Describe("trefoil_certificate_expiry_timestamp_seconds", "gauge",
                "When a party's certificate expires, in seconds since 1970.");
  for (const auto& one : status.certificates) {
    page.Add("trefoil_certificate_expiry_timestamp_seconds", fmt::format("party=\"{}\"", one.party),
             static_cast<double>(one.unix_seconds));
  }
  return page.Take();
}

std::string StatusJson(const RunStatus& status, const std::vector<std::string>& log) {
  const OrderedJson json{{"party", status.self},
                         {"job", JobJson(status.job)},
                         {"obstacle", Obstacle(status)},
                         {"progress", ProgressJson(status.report)},
                         {"pace", PaceJson(status)},
                         {"epsilon", EpsilonsJson(status)},
                         {"ledgers", BudgetsJson(status)},
                         {"peers", PeersJson(status)},
                         {"storage", Duration(Seconds(status.storage))},
                         {"dropped", status.dropped},
                         {"memory", Bytes(ResidentBytes())},
                         {"course", CourseJson(status)},
                         {"log", log}};
  return json.dump(-1, ' ', true, OrderedJson::error_handler_t::replace);
}

}  // namespace trefoil::runtime
