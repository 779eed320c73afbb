#pragma once
#include "bench/operations.h"

namespace trefoil::bench {

/// One DP-SGD step of a one-vs-rest model on shared X and Y (shape: batch x features x classes), noise
/// included; by factorised norms, and with per-example gradients materialised as the seed publishes it.
[[nodiscard]] Prepared PrepareBulkStep(mpc::Context& party, const Point& point);
[[nodiscard]] Prepared PrepareLatencyStep(mpc::Context& party, const Point& point);
[[nodiscard]] Prepared PreparePublishedStep(mpc::Context& party, const Point& point);

}  // namespace trefoil::bench
