#pragma once
#include <array>
#include <cstdint>

#include "ml/settings.h"
#include "mpc/cost.h"
#include "protocols/cost_model.h"
#include "protocols/form.h"

namespace trefoil::ml {

/// What a whole run costs.
struct RunCost {
  int rounds = 0;
  std::array<std::uint64_t, net::kParties> bytes_sent{};  ///< by each party, online and offline
};

/// The declared cost of a whole run with comparisons of this form, as a StepReport counts it at the last
/// step: keys, measuring the link, agreeing on constants, initialisation, inputs and all steps; with public
/// sampling, steps of the expected number of rows. Without what follows the last step. Throws as
/// MakeStepPlan.
[[nodiscard]] RunCost PlannedRunCost(const TrainingSettings& settings, protocols::Form form);

/// The form that a run would choose on a link, where the job leaves it open.
[[nodiscard]] protocols::Form PlannedForm(const TrainingSettings& settings, const protocols::Link& link);

/// Seconds that a run is expected to take on a link, from its connection to its last step, without local
/// initialisation, on hosts that do nothing else. Constants of computation are those of the machine of
/// docs/performance.md, where plan and measurement are compared.
[[nodiscard]] double PlannedRunSeconds(const TrainingSettings& settings, protocols::Form form,
                                       const protocols::Link& link);

}  // namespace trefoil::ml
