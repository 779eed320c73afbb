#pragma once
#include <optional>
#include <vector>

#include "base/secrets/random.h"
#include "dp/mechanisms/geometric.h"
#include "dp/mechanisms/radial_laplace_part.h"
#include "ml/noise/noise_source.h"
#include "mpc/cost.h"
#include "mpc/share.h"

namespace trefoil::ml {

/// This party's parts of discrete Laplace noise (dp/mechanisms/laplace_part.h) for `counts` numbers, counts x
/// 1. `stream` is RandomStream::FromSystem() but in tests. Throws ConfigError on the rate.
[[nodiscard]] StepNoise LaplaceParts(RandomStream stream, const dp::Ratio& rate, mpc::Index counts);

/// This party's part of radial Laplace noise for a vector of `coordinates` numbers, coordinates x 1. `stream`
/// as above.
[[nodiscard]] StepNoise RadialLaplaceParts(RandomStream stream, const dp::RadialLaplacePart& part,
                                           mpc::Index coordinates);

/// The sum of all parties' counts and noise, exactly and element by element, opened to the parties of `to`
/// alone; each of the counts and of the noise is one party's own. Nothing else is opened.
///
/// Pre:    `own` and `noise` of one shape, the same at all three.
/// Cost:   OpenNoisyCountsCost.
/// Throws: ContractError on the shape, before anything is sent; NetworkError, ProtocolError.
[[nodiscard]] std::optional<mpc::RingMatrix> OpenNoisyCounts(mpc::Context& party, const mpc::RingMatrix& own,
                                                             const mpc::RingMatrix& noise,
                                                             const std::vector<int>& to);
[[nodiscard]] mpc::Cost OpenNoisyCountsCost(mpc::Index counts, const std::vector<int>& to);

/// The same of counts that are in shares. Cost: OpenSharedCountsCost, which has no round for them.
[[nodiscard]] std::optional<mpc::RingMatrix> OpenNoisyCounts(mpc::Context& party,
                                                             const mpc::AdditiveShare& counts,
                                                             const mpc::RingMatrix& noise,
                                                             const std::vector<int>& to);
[[nodiscard]] mpc::Cost OpenSharedCountsCost(mpc::Index counts, const std::vector<int>& to);

}  // namespace trefoil::ml
