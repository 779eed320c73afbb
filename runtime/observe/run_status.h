#pragma once
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "dp/record/record.h"
#include "jobs/statement/bound_text.h"
#include "ml/dpsgd/training.h"
#include "net/transport.h"
#include "runtime/ledger/run_budget.h"

namespace trefoil::runtime {

/// When a certificate expires.
struct CertificateExpiry {
  int party = 0;
  std::int64_t unix_seconds = 0;
};

/// What is known of a peer: not connected yet, connected, or gone for good in this session.
enum class PeerState { kWaiting, kConnected, kLost };

/// The job that is watched, as its parties agreed on it.
struct WatchedJob {
  std::string name;
  std::string type;
  std::string title;
  std::string hash;
  std::string covered{};      ///< why it charges nothing; empty: it charges, at most as below
  dp::EpsilonPair planned{};  ///< at `delta`
  double delta = 0;
  jobs::FirstEpsilon first = jobs::FirstEpsilon::kOutsider;
};

/// A training's steps so far, thinned out to a few hundred; the first and the last are among them.
class Course {
 public:
  void Add(const ml::StepReport& report);
  [[nodiscard]] const std::vector<ml::StepReport>& points() const { return points_; }

 private:
  std::vector<ml::StepReport> points_;
  std::size_t added_ = 0;
  std::size_t stride_ = 1;  ///< every such point stays
  bool last_stays_ = true;  ///< else the next one takes its place
};

/// What a run tells on its machine while it goes on: the one source of the numbers on all pages that serve
/// them (runtime/observe/run_metrics.h). Nothing of records, shares or keys.
struct RunStatus {
  int self = 0;
  int ranks = 1;  ///< machines of this party
  std::vector<CertificateExpiry> certificates{};
  bool ready = false;  ///< the three have agreed on the job, and none has failed
  std::array<PeerState, net::kParties> peers{};
  std::array<std::chrono::milliseconds, net::kParties> waiting{};  ///< too long, for a peer; else 0
  std::chrono::milliseconds storage{0};  ///< too long, for a call of the system; else 0
  std::string storage_call{};
  std::chrono::milliseconds program{0};  ///< too long, for the program of a session; else 0
  std::string program_call{};
  std::uint64_t dropped = 0;  ///< connections
  ml::StepReport report{};    ///< of the last finished step
  WatchedJob job{};
  std::vector<ReservedBudget> budgets{};
  Course course{};
};

/// Why the run does not get on; empty where it does.
[[nodiscard]] std::string Obstacle(const RunStatus& status);

/// All numbers in Prometheus' text format.
[[nodiscard]] std::string MetricsText(const RunStatus& status);

/// The same for the page, with texts as people read them; and `log`, the last lines of party.log. ASCII.
/// docs/howto/operations.md, "A page to watch", says what is in it.
[[nodiscard]] std::string StatusJson(const RunStatus& status, const std::vector<std::string>& log);

}  // namespace trefoil::runtime
