#pragma once
#include <string>

#include "deposit/store/store.h"
#include "jobs/config/party_file.h"

namespace trefoil::apps {

/// The party file, which has [deposits]. Throws ConfigError as jobs::ReadParty, and where it has none.
[[nodiscard]] jobs::PartyFile ReadPartyWithDeposits(const std::string& config);

/// The store that [deposits] of a party file names. Throws as jobs::StorageKey and the store. Pre: the file has [deposits].
[[nodiscard]] deposit::Store OpenStore(const jobs::PartyFile& party);

}  // namespace trefoil::apps
