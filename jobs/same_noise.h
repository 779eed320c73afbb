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
/// sensitivity in lattice units. Both are public. `ranks`: of a job that several machines of a party run,
/// all of which call this, and return when all of the party have; null where there is one. Those above rank 0
/// compare theirs with rank 0's, and send other parties nothing.
/// Cost:   RequireSameNoiseCost, of rank 0.
/// Throws: ConfigError naming the party, or the rank, that has others; NetworkError, ProtocolError.
void RequireSameNoise(mpc::Context& party, const std::vector<dp::RecordedEvent>& events,
                      const std::vector<std::uint64_t>& numbers, mpc::Ranks* ranks = nullptr);
[[nodiscard]] mpc::Cost RequireSameNoiseCost();

}  // namespace trefoil::jobs
