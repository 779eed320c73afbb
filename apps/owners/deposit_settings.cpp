#include "apps/owners/deposit_settings.h"

#include "base/error.h"
#include "jobs/job.h"

namespace trefoil::apps {

jobs::PartyFile ReadPartyWithDeposits(const std::string& config) {
  auto party = jobs::ReadParty(config);
  if (!party.deposits) {
    throw ConfigError(
        config +
        ": found no [deposits], expected one with key, owners and store: trefoil deposit-key makes the key");
  }
  return party;
}

}  // namespace trefoil::apps
