#include "ml/announcements.h"

#include <algorithm>

#include "ml/step_privacy.h"

namespace trefoil::ml {

void Announcements::Before(int step) {
  if (!announce_ || step < announced_) return;
  constexpr int kParts = 50;
  const int steps = plan_.settings.steps;
  announced_ = std::min(steps, step + (steps + kParts - 1) / kParts);
  dp::TrainingRecord record{.job_hash = {}, .run_id = {}, .events = before_};
  record.events.emplace_back(EventOf(plan_, sigma_, announced_, participation_(announced_)));
  announce_(record);
}

}  // namespace trefoil::ml
