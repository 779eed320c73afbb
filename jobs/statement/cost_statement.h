#pragma once
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "jobs/job_cost.h"
#include "ml/plan/run_cost.h"
#include "protocols/cost_model.h"

namespace trefoil::jobs {

/// A run of a job that is no training, in this form (or none).
[[nodiscard]] PlannedRun PlanRun(const JobCost& cost, const std::string& form,
                                 const std::optional<protocols::Link>& link);

/// JobCost::before, and on a link how long it takes there.
[[nodiscard]] std::string BeforeText(const JobCost& cost, const std::optional<protocols::Link>& link);

/// "The run, latency form: 1815 rounds; the parties send 1.2 GB, 1.1 GB and 1.1 GB; about 2 min 10 s on this
/// link", a line.
[[nodiscard]] std::string ToText(const PlannedRun& run);

/// An entry of run_costs: form, rounds, bytes_sent, at_most, seconds.
[[nodiscard]] nlohmann::ordered_json ToJson(const PlannedRun& run);

/// "A party needs about 27.3 MB of memory", a line; of the party that needs most.
[[nodiscard]] std::string MemoryText(double bytes);

}  // namespace trefoil::jobs
