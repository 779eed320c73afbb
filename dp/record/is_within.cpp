#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <variant>

#include <nlohmann/json.hpp>

#include "dp/ledger/ledger.h"

namespace trefoil::dp {
namespace {

/// How often an event occurs; of steps how many batches there are, by how often each was executed, and in how
/// many executions any one row is.
struct Occurrences {
  std::map<std::int64_t, std::int64_t> times;  ///< by executions; 1 for what is no step
  std::int64_t participation = 0;

  /// Batches that were executed so often or oftener.
  [[nodiscard]] std::int64_t AtLeast(std::int64_t executions) const {
    std::int64_t sum = 0;
    for (auto one = times.lower_bound(executions); one != times.end(); ++one) sum += one->second;
    return sum;
  }
  /// No batch oftener: then less noise is left of none.
  [[nodiscard]] bool Within(const Occurrences& limit) const {
    return participation <= limit.participation &&
           std::all_of(times.begin(), times.end(),
                       [&](const auto& one) { return AtLeast(one.first) <= limit.AtLeast(one.first); });
  }
};

/// Events that differ in nothing else, as text, with their number.
std::map<std::string, Occurrences> CountEvents(const TrainingRecord& record) {
  std::map<std::string, Occurrences> counts;
  for (const auto& event : record.events) {
    RecordedEvent kind = event;
    std::int64_t times = 1;
    std::int64_t executions = 1;
    std::int64_t participation = 0;
    if (auto* steps = std::get_if<DpSgdSteps>(&kind)) {
      times = std::exchange(steps->steps, 0);
      executions = std::exchange(steps->executions, 1);
      participation = std::exchange(steps->max_participation, 0);
    }
    auto& count = counts[ToJson(TrainingRecord{.job_hash = {}, .run_id = {}, .events = {kind}}).dump()];
    count.times[executions] += times;
    count.participation += participation;
  }
  return counts;
}

}  // namespace

bool IsWithin(const TrainingRecord& record, const TrainingRecord& reserved) {
  if (record.job_hash != reserved.job_hash || record.run_id != reserved.run_id) return false;
  const auto most = CountEvents(reserved);
  const auto counts = CountEvents(record);
  return std::all_of(counts.begin(), counts.end(), [&](const auto& one) {
    const auto found = most.find(one.first);
    const Occurrences limit = found == most.end() ? Occurrences{} : found->second;
    return one.second.Within(limit);
  });
}

}  // namespace trefoil::dp
