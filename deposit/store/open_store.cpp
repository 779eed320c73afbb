#include "deposit/store/open_store.h"

#include "base/error.h"
#include "jobs/files/sealed_file.h"

namespace trefoil::deposit {
namespace {

constexpr jobs::SealedKind kStoreKeys{
    .magic = "", .purpose = "trefoil deposit store", .what = "the keys of a store of deposits"};

}  // namespace

void RequireDeposits(const jobs::PartyFile& party, const std::string& party_file) {
  if (party.deposits) return;
  throw ConfigError(
      party_file +
      ": found no [deposits], expected one with key, owners and store: trefoil deposit-key makes the key");
}

Store OpenStore(const jobs::PartyFile& party) {
  return {party.deposits->store, party.id, jobs::StorageKey(party, kStoreKeys)};
}

}  // namespace trefoil::deposit
