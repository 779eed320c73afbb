#include "ml/plan/step_journal.h"

#include <algorithm>

namespace trefoil::ml {

void StepJournal::Before(int step) {
  if (!announce_ || step < announced_ || step >= steps_) return;
  constexpr int kParts = 50;
  announced_ = std::min(steps_, step + (steps_ + kParts - 1) / kParts);
  announce_({.job_hash = {}, .run_id = {}, .events = executed_.Events(announced_, false)}, announced_);
}

}  // namespace trefoil::ml
