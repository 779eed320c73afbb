#include "ml/executed.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "ml/evaluation.h"
#include "ml/step_privacy.h"

namespace trefoil::ml {

Executed::Executed(const StepPlan& plan, double sigma, std::vector<dp::RecordedEvent> initialisation,
                   const Lineage& earlier, bool from_start, int first,
                   std::function<std::int64_t(int step)> participation)
    : plan_(plan),
      sigma_(sigma),
      initialisation_(std::move(initialisation)),
      from_start_(from_start),
      first_(first),
      participation_(std::move(participation)) {
  for (const SessionSteps& session : earlier) {
    Require(0 <= session.first && session.first <= session.begun && session.begun <= plan.settings.steps,
            "Executed: sessions begin steps of the run");
    initialisations_ += session.from_start ? 1 : 0;
    before_ += session.begun - session.first;
    evaluations_ += session.evaluated ? 1 : 0;
  }
  other_coins_ = before_;
  for (const StepRange& range : StepsByTheseCoins(earlier, from_start))
    other_coins_ -= range.last - range.first;
}

std::vector<dp::RecordedEvent> Executed::EventsOf(std::int64_t initialisations, int step,
                                                  std::int64_t evaluations) const {
  std::vector<dp::RecordedEvent> events;
  for (std::int64_t k = 0; k < initialisations; ++k)
    events.insert(events.end(), initialisation_.begin(), initialisation_.end());
  if (Steps(step) > 0) events.emplace_back(EventOf(plan_, sigma_, Steps(step), Participation(step)));
  const auto evaluation = EvaluationEvents(plan_);
  for (std::int64_t k = 0; k < evaluations; ++k)
    events.insert(events.end(), evaluation.begin(), evaluation.end());
  return events;
}

std::vector<dp::RecordedEvent> Executed::Events(int step, bool evaluation) const {
  return EventsOf(initialisations_ + (from_start_ ? 1 : 0), step, evaluations_ + (evaluation ? 1 : 0));
}

std::vector<dp::RecordedEvent> Executed::EventsBefore() const {
  return EventsOf(initialisations_, first_, evaluations_);
}

std::vector<dp::RecordedEvent> Executed::Initialisations() const {
  auto events = EventsOf(initialisations_ + (from_start_ ? 1 : 0), first_, 0);
  if (Steps(first_) > 0) events.pop_back();
  return events;
}

std::vector<StepRange> StepsByTheseCoins(const Lineage& earlier, bool from_start) {
  std::vector<StepRange> ranges;
  if (from_start) return ranges;
  for (const SessionSteps& session : earlier) {
    if (session.from_start) ranges.clear();
    ranges.push_back({.first = session.first, .last = session.begun});
  }
  return ranges;
}

}  // namespace trefoil::ml
