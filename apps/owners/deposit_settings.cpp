#include "apps/owners/deposit_settings.h"

#include "base/error.h"
#include "jobs/files/sealed_file.h"
#include "jobs/job.h"

namespace trefoil::apps {
namespace {

constexpr jobs::SealedKind kStoreKeys{
    .magic = "", .purpose = "trefoil deposit store", .what = "the keys of a store of deposits"};

}  // namespace

jobs::PartyFile ReadPartyWithDeposits(const std::string& config) {
  auto party = jobs::ReadParty(config);
  if (!party.deposits) {
    throw ConfigError(
        config +
        ": found no [deposits], expected one with key, owners and store: trefoil deposit-key makes the key");
  }
  return party;
}

deposit::Store OpenStore(const jobs::PartyFile& party) {
  return {party.deposits->store, party.id, jobs::StorageKey(party, kStoreKeys)};
}

}  // namespace trefoil::apps
