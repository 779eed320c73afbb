#pragma once
#include <cstdint>
#include <vector>

#include "dp/record/record.h"
#include "mpc/context.h"
#include "mpc/cost.h"
#include "mpc/ranks.h"

namespace trefoil::jobs {

/// For Job::Run, before anything is reserved, shared or opened: whether all three parties have derived the
/// same noise. Where a multiplier or a sensitivity follows from logarithms and roots, each party computes it
/// by itself, draws its own noise by it and charges all three's by it; two libraries may round it otherwise.
///
/// `events` are what the job charges; `numbers` whole numbers that the noise is drawn by besides, as a
/// sensitivity in lattice units. Both are public. `ranks`: of a job that several machines of a party run, all
/// of which call this; null where there is one. All compare theirs with rank 0's, and rank 0 tells the peers
/// its own once they have: it returns when all machines of all parties have the same. Where machines of one
/// party differ, its peers are told, and end as where the whole party has others.
/// Cost:   RequireSameNoiseCost, of rank 0.
/// Throws: ConfigError naming the party that has others, and at all machines of a party where these differ
///         the first of them that does; NetworkError, ProtocolError.
void RequireSameNoise(mpc::Context& party, const std::vector<dp::RecordedEvent>& events,
                      const std::vector<std::uint64_t>& numbers, mpc::Ranks* ranks = nullptr);
[[nodiscard]] mpc::Cost RequireSameNoiseCost();

}  // namespace trefoil::jobs
