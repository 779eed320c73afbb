#pragma once
#include <exception>

#include "net/mesh/mesh.h"
#include "runtime/phases/party_run.h"
#include "runtime/ranks/rank_group.h"

namespace trefoil::runtime {

/// `error` as the operator reads it, of a party of several machines as an error of rank 0; a NetworkError
/// that a signal has brought about as that signal.
[[nodiscard]] RankFailure FailureOf(PartyRun& run, const std::exception& error);

/// Ends a run that has failed before its peers were met, and tells those that come. Returns what its other
/// ranks end with: `error`, or what another one has failed with before.
[[nodiscard]] RankFailure EndBeforeStart(PartyRun& run, const std::exception& error,
                                         const net::MeshConfig& config);

/// Ends a run that has failed since: tells operator, peers and auditors, and how the run can go on. The code
/// that it returns is kDone where the run had its results already and no peer has come.
[[nodiscard]] RankFailure EndInFailure(PartyRun& run, const std::exception& error);

}  // namespace trefoil::runtime
