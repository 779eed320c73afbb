#pragma once
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "jobs/deposited_records.h"
#include "jobs/job.h"
#include "jobs/statement/cost_statement.h"

namespace trefoil::jobs {

/// A job without steps whose settings have the members `name`, `delta`, `accountant` and `to`: what all such
/// types answer alike.
template <typename Settings>
class JobOf : public Job {
 public:
  explicit JobOf(Settings job) : job_(std::move(job)) {}

  [[nodiscard]] const std::string& name() const final { return job_.name; }
  [[nodiscard]] double delta() const final { return job_.delta; }
  [[nodiscard]] dp::AccountantKind accountant() const final { return job_.accountant; }
  [[nodiscard]] const std::vector<int>& release_to() const final { return job_.to; }

  [[nodiscard]] JobPlan Plan(const std::optional<protocols::Link>& link) const final {
    const auto cost = Cost();
    JobPlan plan{.events = Events(),
                 .forms = {PlanRun(cost, "", link)},
                 .apart = cost.apart,
                 .before = BeforeText(cost, link),
                 .memory = cost.memory};
    if (!cost.before.empty()) {
      auto& seconds = plan.figures["before_seconds"] = nullptr;
      if (link) seconds = cost.before_seconds / link->speed;
    }
    for (std::size_t party = 0; party < net::kParties; ++party)
      plan.disk.at(party) = kBytesOfSmallFiles + cost.results.at(party);
    return plan;
  }

  [[nodiscard]] std::vector<JobInput> Inputs(const PartyFile& party, const std::string& party_file,
                                             const Resources& resources) final {
    if (IsOnDeposits(*this)) return {DepositsOf(deposits_, *Records())};
    return {{.what = "data", .load = [this, &party, &party_file, resources] {
               auto said = Load(party, party_file, resources);
               return Loaded{.said = std::move(said), .warnings = std::move(warnings_)};
             }}};
  }

 protected:
  [[nodiscard]] const Settings& job() const { return job_; }
  /// What Run() costs, from the job alone.
  [[nodiscard]] virtual JobCost Cost() const = 0;
  /// Reads and checks all that this party brings. Returns what to say of it to its owner alone. Throws
  /// ConfigError or DataError.
  virtual std::string Load(const PartyFile& party, const std::string& party_file,
                           const Resources& resources) = 0;
  /// The records of a job on deposits, which takes them by TakeRecordsOf.
  void SetDeposits(SharedRecords& records) { deposits_ = &records; }
  [[nodiscard]] SharedRecords& Deposits() const { return *deposits_; }
  /// In Load: what its owner alone should know of the data, a line each (jobs/records/owner_warnings.h).
  void WarnOwner(std::vector<std::string> lines) { warnings_ = std::move(lines); }
  /// `bytes` at each party that gets the results; at all three where nobody does and each keeps its share.
  [[nodiscard]] std::array<double, net::kParties> AtReceivers(double bytes) const {
    std::array<double, net::kParties> of_each{};
    if (job_.to.empty()) of_each.fill(bytes);
    for (const int party : job_.to) of_each.at(static_cast<std::size_t>(party)) = bytes;
    return of_each;
  }

 private:
  Settings job_;
  std::vector<std::string> warnings_{};
  SharedRecords* deposits_ = nullptr;
};

}  // namespace trefoil::jobs
