#include "ml/plan/execution_history.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "ml/on_shares/evaluation.h"
#include "ml/plan/step_privacy.h"

namespace trefoil::ml {
namespace {

/// How many steps are in one of the ranges, in two, ...; each of the lists has steps of its own.
std::map<std::int64_t, std::int64_t> CountSteps(const std::vector<std::vector<StepRange>>& lists) {
  std::map<std::int64_t, std::int64_t> counts;
  for (const auto& ranges : lists) {
    std::map<int, std::int64_t> turns;  // at which so many more ranges begin than end
    for (const StepRange& range : ranges) {
      ++turns[range.first];
      --turns[range.last];
    }
    std::int64_t open = 0;
    int from = 0;
    for (const auto& [step, turn] : turns) {
      if (open > 0 && step > from) counts[open] += step - from;
      open += turn;
      from = step;
    }
  }
  return counts;
}

}  // namespace

ExecutionHistory::ExecutionHistory(const StepPlan& plan, double sigma,
                                   std::vector<dp::RecordedEvent> initialisation,
                                   const SessionHistory& earlier, bool from_start, int first,
                                   std::function<std::int64_t(int step)> participation)
    : plan_(plan),
      sigma_(sigma),
      initialisation_(std::move(initialisation)),
      from_start_(from_start),
      first_(first),
      participation_(std::move(participation)) {
  for (const SessionSteps& session : earlier) {
    Require(0 <= session.first && session.first <= session.begun && session.begun <= plan.settings.steps,
            "ExecutionHistory: sessions begin steps of the run");
    initialisations_ += session.from_start ? 1 : 0;
    before_ += session.begun - session.first;
    evaluations_ += session.evaluated ? 1 : 0;
  }
  for (const SessionSteps& session : earlier) {
    if (by_coins_.empty() || (session.from_start && !DrawnBeforehand())) by_coins_.emplace_back();
    by_coins_.back().push_back({.first = session.first, .last = session.begun});
  }
  other_coins_ = before_;
  for (const StepRange& range : StepsByTheseCoins(earlier, from_start))
    other_coins_ -= range.last - range.first;
}

std::vector<dp::RecordedEvent> ExecutionHistory::EventsOf(std::int64_t initialisations, int step,
                                                          std::int64_t evaluations) const {
  std::vector<dp::RecordedEvent> events;
  for (std::int64_t k = 0; k < initialisations; ++k)
    events.insert(events.end(), initialisation_.begin(), initialisation_.end());
  std::int64_t participation = Participation(step);
  for (const auto& [executions, batches] : BatchesByExecutions(step)) {
    // Only the sum counts: an insider is charged for so many releases, whichever they are.
    const std::int64_t part = std::min(participation, executions * batches);
    dp::DpSgdSteps steps = EventOf(plan_, sigma_, batches, part);
    steps.executions = executions;
    participation -= part;
    events.emplace_back(steps);
  }
  const auto evaluation = EvaluationEvents(plan_);
  for (std::int64_t k = 0; k < evaluations; ++k)
    events.insert(events.end(), evaluation.begin(), evaluation.end());
  return events;
}

std::vector<dp::RecordedEvent> ExecutionHistory::Events(int step, bool evaluation) const {
  return EventsOf(initialisations_ + (from_start_ ? 1 : 0), step, evaluations_ + (evaluation ? 1 : 0));
}

std::vector<dp::RecordedEvent> ExecutionHistory::EventsBefore() const {
  return EventsOf(initialisations_, first_, evaluations_);
}

bool ExecutionHistory::DrawnBeforehand() const { return plan_.settings.sampling == Sampling::kDeposited; }

bool ExecutionHistory::RepeatsBatches() const {
  return plan_.settings.sampling == Sampling::kPublic || DrawnBeforehand();
}

int ExecutionHistory::FirstFresh() const {
  int fresh = 0;
  if (by_coins_.empty() || !RepeatsBatches() || (from_start_ && !DrawnBeforehand())) return fresh;
  for (const StepRange& range : by_coins_.back()) fresh = std::max(fresh, range.last);
  return fresh;
}

std::map<std::int64_t, std::int64_t> ExecutionHistory::BatchesByExecutions(int step) const {
  // Every owner draws anew, whatever is done again.
  if (!RepeatsBatches())
    return Steps(step) > 0 ? std::map<std::int64_t, std::int64_t>{{1, Steps(step)}}
                           : std::map<std::int64_t, std::int64_t>{};
  auto all = by_coins_;
  if (all.empty() || (from_start_ && !DrawnBeforehand())) all.emplace_back();
  all.back().push_back({.first = first_, .last = step});
  return CountSteps(all);
}

std::vector<StepRange> StepsByTheseCoins(const SessionHistory& earlier, bool from_start) {
  std::vector<StepRange> ranges;
  if (from_start) return ranges;
  for (const SessionSteps& session : earlier) {
    if (session.from_start) ranges.clear();
    ranges.push_back({.first = session.first, .last = session.begun});
  }
  return ranges;
}

}  // namespace trefoil::ml
