#pragma once
#include <string>

#include "jobs/config/party_file.h"

namespace trefoil::apps {

/// The party file, which has [deposits]. Throws ConfigError as jobs::ReadParty, and where it has none.
[[nodiscard]] jobs::PartyFile ReadPartyWithDeposits(const std::string& config);

}  // namespace trefoil::apps
