#pragma once
#include <optional>
#include <vector>

#include "mpc/cost.h"
#include "mpc/share.h"

/// Noisy votes on shares (PATE): a row a query, a column a class, in units of 2^-f of a vote. No party knows
/// the counts, nor the noise of the others; winners and threshold bits are all that opens. Source: Papernot
/// et al., "Scalable private learning with PATE" (2018), section 4.
namespace trefoil::ml {

/// For each query whether the largest of `votes`, with every party's noise, is at most `threshold`: a share
/// of 1 or 0. OpenAboveThreshold opens this bit; by itself it serves tests of what is seen before the
/// opening. Pre, throws: as there.
[[nodiscard]] mpc::ArithShare NoisyMaxBelow(mpc::Context& party, const mpc::ArithShare& votes,
                                            const mpc::RingMatrix& noise, std::int64_t threshold, int width);

/// For each query whether the largest of `votes`, with every party's noise, is above `threshold`: 1 or 0,
/// opened to all.
///
/// Pre:    `noise` has one column; two numbers of a row, and the noisy largest and the threshold, differ by
///         less than 2^(width - 1); 2 <= width <= 64. Where they do not, a bit is wrong, and nothing more is
///         learned.
/// Cost:   OpenAboveThresholdCost.
/// Throws: ContractError on the shape, before anything is sent; NetworkError, ProtocolError.
[[nodiscard]] std::vector<bool> OpenAboveThreshold(mpc::Context& party, const mpc::ArithShare& votes,
                                                   const mpc::RingMatrix& noise, std::int64_t threshold,
                                                   int width);
[[nodiscard]] mpc::Cost OpenAboveThresholdCost(mpc::Index queries, mpc::Index classes, int width);

/// For each query the class with the most votes after every party's noise, the first of equal ones, opened to
/// the parties of `to` alone, or to nobody where there are none.
///
/// Pre:    `noise` of the votes' shape; two noisy counts of a row differ by less than 2^(width - 1). Where
///         they do not, any of the classes may win.
/// Cost:   OpenNoisyWinnersCost.
/// Throws: as above.
[[nodiscard]] std::optional<std::vector<int>> OpenNoisyWinners(mpc::Context& party,
                                                               const mpc::ArithShare& votes,
                                                               const mpc::RingMatrix& noise, int width,
                                                               const std::vector<int>& to);
[[nodiscard]] mpc::Cost OpenNoisyWinnersCost(mpc::Index queries, mpc::Index classes, int width,
                                             const std::vector<int>& to);

}  // namespace trefoil::ml
