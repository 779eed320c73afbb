#pragma once
#include "jobs/files/model_file.h"
#include "ml/dpsgd/training.h"
#include "trefoil/run.h"
#include "trefoil/training.h"

namespace trefoil {

/// The library's models as the public headers have them.
[[nodiscard]] Model Outer(const ml::Model& model, double row_norm);
[[nodiscard]] ReleasedModel Outer(const jobs::ModelFile& released);

}  // namespace trefoil
