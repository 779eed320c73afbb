#pragma once
#include "runtime/party_run.h"

namespace trefoil::runtime {

/// One party's side of a job of type "predict", from its share of the model to its run directory: the
/// client's has predictions.csv. Errors as RunParty.
int RunPrediction(const RunOptions& options);

}  // namespace trefoil::runtime
