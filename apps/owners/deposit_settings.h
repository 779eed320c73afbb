#pragma once
#include <string>

#include "jobs/job_type.h"

namespace trefoil::apps {

/// The party file, which has [deposits]. Throws ConfigError as jobs::ReadParty, and where it has none.
[[nodiscard]] jobs::PartyFile ReadPartyWithDeposits(const std::string& config, jobs::JobTypes types);

}  // namespace trefoil::apps
