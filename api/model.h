#pragma once
#include "jobs/job.h"
#include "ml/dpsgd/training.h"
#include "trefoil/run.h"
#include "trefoil/training.h"

namespace trefoil {

/// The library's models as the public headers have them.
[[nodiscard]] Model Outer(const ml::Model& model, double row_norm);
[[nodiscard]] ReleasedModel Outer(const jobs::ReleasedModel& released);

}  // namespace trefoil
