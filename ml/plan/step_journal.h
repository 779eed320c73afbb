#pragma once
#include <functional>

#include "dp/record/record.h"
#include "ml/plan/execution_history.h"

namespace trefoil::ml {

/// Says before steps are executed that they may be: about fifty times in a training, so that writing it down
/// takes no time to speak of.
class StepJournal {
 public:
  /// What will have been executed once the run has come to step `steps`.
  using Announce = std::function<void(const dp::TrainingRecord& record, int steps)>;

  /// Of a training of so many steps. `announce` may be empty; what it throws, Before() throws. Both must
  /// outlive this.
  StepJournal(int steps, const ExecutionHistory& executed, const Announce& announce)
      : steps_(steps), executed_(executed), announce_(announce) {}

  /// Step `step`, counted from 0, is about to begin, or what comes before it: calls `announce` with all that
  /// will have been executed some steps on, unless the step was in what it was called with before.
  void Before(int step);

 private:
  int steps_;
  const ExecutionHistory& executed_;
  const Announce& announce_;
  int announced_ = 0;
};

}  // namespace trefoil::ml
