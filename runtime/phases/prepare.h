#pragma once
#include "runtime/phases/party_run.h"

namespace trefoil::runtime {

/// All that a run does before the peers are met: reads what the party brings, and what is to be resumed;
/// makes the run directory, and says there and on stdout what will be done. Fills in run.budget and
/// run.state. Throws as LoadInputs, RunBudget, RunState, PartySession::Open and RequireDisk; DataError where
/// a database, or a folder of images, has changed meanwhile.
void Prepare(PartyRun& run, const dp::EpsilonPair& planned);

}  // namespace trefoil::runtime
