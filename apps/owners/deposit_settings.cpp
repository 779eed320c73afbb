#include "apps/owners/deposit_settings.h"

#include "deposit/store/open_store.h"
#include "jobs/job.h"

namespace trefoil::apps {

jobs::PartyFile ReadPartyWithDeposits(const std::string& config, jobs::JobTypes types) {
  auto party = jobs::ReadParty(config, types);
  deposit::RequireDeposits(party, config);
  return party;
}

}  // namespace trefoil::apps
