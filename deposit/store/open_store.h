#pragma once
#include <string>

#include "deposit/store/store.h"
#include "jobs/config/party_file.h"

namespace trefoil::deposit {

/// Throws ConfigError, naming the party file, where it has no [deposits].
void RequireDeposits(const jobs::PartyFile& party, const std::string& party_file);

/// The store that [deposits] of a party file names. Throws as jobs::StorageKey and the store. Pre: the file
/// has [deposits].
[[nodiscard]] Store OpenStore(const jobs::PartyFile& party);

}  // namespace trefoil::deposit
