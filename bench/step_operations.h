#pragma once
#include "bench/operations.h"
#include "protocols/form.h"
#include "protocols/rounding.h"

namespace trefoil::bench {

/// One DP-SGD step of a one-vs-rest model on shared X and Y (shape: batch x features x classes), noise
/// included; by factorised norms, and with per-example gradients materialised as the seed publishes it.
[[nodiscard]] Prepared PrepareFactorisedStep(mpc::Context& party, const Point& point, protocols::Form form,
                                             protocols::Rounding rounding);
[[nodiscard]] Prepared PreparePublishedStep(mpc::Context& party, const Point& point);

}  // namespace trefoil::bench
