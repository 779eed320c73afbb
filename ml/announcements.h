#pragma once
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "dp/record.h"
#include "ml/step_plan.h"

namespace trefoil::ml {

/// Says before steps are executed that they may be: about fifty times in a training, so that writing it down
/// takes no time to speak of.
class Announcements {
 public:
  using Announce = std::function<void(const dp::TrainingRecord&)>;

  /// `before`: what is executed before the steps. `participation`: steps of the first so many that any one
  /// row is in, at most. `announce` may be empty; what it throws, Before() throws. All must outlive this.
  Announcements(const StepPlan& plan, double sigma, const std::vector<dp::RecordedEvent>& before,
                std::function<std::int64_t(int steps)> participation, const Announce& announce)
      : plan_(plan),
        sigma_(sigma),
        before_(before),
        participation_(std::move(participation)),
        announce_(announce) {}

  /// Step `step`, counted from 0, is about to begin, or what comes before it: calls `announce` with all that
  /// will have been executed some steps on, unless the step was in what it was called with before.
  void Before(int step);

 private:
  const StepPlan& plan_;
  double sigma_;
  const std::vector<dp::RecordedEvent>& before_;
  std::function<std::int64_t(int)> participation_;
  const Announce& announce_;
  int announced_ = 0;
};

}  // namespace trefoil::ml
