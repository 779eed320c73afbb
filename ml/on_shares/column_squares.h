#pragma once
#include "ml/clear/least_squares.h"
#include "mpc/context.h"
#include "mpc/cost.h"
#include "mpc/share.h"

namespace trefoil::ml {

/// The sum of SumOfSquares over rows of which every party has columns, numbers() x 1, as a 3-of-3 sharing:
/// products of two parties' columns are made on shares of all rows, and nothing opens. Exact modulo 2^64.
///
/// Pre:    `own` is EncodeColumns of this party, of the same rows in the same order at all three
///         (RequireSameKeys), padded to `height`, which is the same at all three.
/// Cost:   SumOfColumnSquaresCost: 1 round, each party sends 8 bytes for each of its numbers. 3 height p^2
///         multiplications.
/// Throws: ContractError on the shape, before anything is sent; NetworkError, ProtocolError.
/// Source: local products of replicated shares: Araki et al., CCS 2016, section 3.
[[nodiscard]] mpc::AdditiveShare SumOfColumnSquares(mpc::Context& party, const SquaresShape& shape,
                                                    const SquaresColumns& columns, const mpc::RingMatrix& own,
                                                    mpc::Index height);
[[nodiscard]] mpc::Cost SumOfColumnSquaresCost(const SquaresShape& shape, const SquaresColumns& columns,
                                               mpc::Index height);

}  // namespace trefoil::ml
