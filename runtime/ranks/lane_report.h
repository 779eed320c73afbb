#pragma once
#include <vector>

#include "mpc/ranks.h"
#include "net/transport.h"
#include "runtime/ranks/rank_group.h"

namespace trefoil::runtime {

/// What a rank has sent on its lane and computed for it, in one session.
struct LaneReport {
  net::Counters counters{};
  double processor_seconds = 0;  ///< without what its waiting for other ranks took
  double waited_seconds = 0;     ///< for other ranks
};

/// The processor time of this process so far, waiting for other ranks, if there are any (`group`), left out.
[[nodiscard]] double ProcessorSeconds(const RankGroup* group);

/// Those of all ranks, by rank, at rank 0; empty at the others. All call it, behind their last message to
/// peers.
[[nodiscard]] std::vector<LaneReport> GatherReports(mpc::Ranks& ranks, const LaneReport& own);

/// Rank 0 lets the others begin with what they read, or says that there is nothing to do.
void LetBegin(mpc::Ranks& ranks, bool begin);
/// The others wait for it. Returns whether there is something to do.
[[nodiscard]] bool WaitForBegin(mpc::Ranks& ranks);

}  // namespace trefoil::runtime
