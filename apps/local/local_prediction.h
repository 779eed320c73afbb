#pragma once
#include "apps/local/local_run.h"

namespace trefoil::apps {

/// A job of type "predict" with three parties on this machine, by the shares that an earlier `local` left in
/// options.model and for the rows of options.data: predictions.csv and summary.json in the run directory.
/// Returns the first failing party's exit code; throws the errors of base/error.h for what fails before the
/// parties start.
int RunLocalPrediction(const LocalOptions& options);

}  // namespace trefoil::apps
