#pragma once
#include <cstddef>

#include "deposit/store/store.h"
#include "deposit/study.h"
#include "jobs/config/party_file.h"

namespace trefoil::apps {

/// One party's side of `trefoil store check`: all of its deposits of a study are read and verified; then it
/// meets both peers, who call the same, and the three check each deposit on their shares
/// (deposit/on_shares/checked_rows.h). Prints a line for each deposit, in the same order at all three.
/// Returns the exit code: kData where one is not taken. `store` has this party's deposits. A wait for
/// a peer that is longer than the party file's `timeouts.peer` is told on stderr. Throws as Store::Read,
/// net::ConnectMesh, AgreeOnDeposits and AreRows, and StoppedError after a signal; the peers are told why
/// (runtime::TellingPeers).
int CheckTogether(const jobs::PartyFile& party, const deposit::Study& study, deposit::Store& store,
                  std::size_t threads);

}  // namespace trefoil::apps
