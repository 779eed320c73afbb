#pragma once
#include <optional>

#include "mpc/ranks.h"
#include "mpc/ring.h"

namespace trefoil::ml {

/// The part of a vector of `numbers` that each of `ranks` machines holds: as many at each, rounded up, one
/// behind the other. What is more than there are numbers is zero.
[[nodiscard]] mpc::Index SliceOf(mpc::Index numbers, int ranks);

/// This rank's slice, SliceOf x 1, of the sum modulo 2^64 of what all ranks of a party bring, `own`, numbers
/// x 1 each. Throws NetworkError.
[[nodiscard]] mpc::RingMatrix SliceOfSum(const mpc::RingMatrix& own, mpc::Ranks& ranks);

/// At rank 0 all ranks' slices as one vector of `numbers`, numbers x 1; nothing at the others. Throws
/// NetworkError.
[[nodiscard]] std::optional<mpc::RingMatrix> JoinSlices(const mpc::RingMatrix& slice, mpc::Index numbers,
                                                        mpc::Ranks& ranks);

}  // namespace trefoil::ml
