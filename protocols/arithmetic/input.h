#pragma once
#include <array>

#include "mpc/cost.h"
#include "mpc/share.h"

namespace trefoil::protocols {

struct Shape {
  mpc::Index rows = 0;
  mpc::Index cols = 0;
};

/// Every party inputs a matrix of its own (or none: a shape without elements); result j is a sharing of party
/// j's. Owner j's component j comes from the PRG that it shares with P_{j-1}, component j+1 is sent to
/// P_{j+1}, j+2 is zero.
///
/// Pre:    `own` has the shape shapes[self]; all parties give the same shapes.
/// Cost:   1 round; owner j sends 8 bytes an element (1 word).
/// Throws: NetworkError, ProtocolError; ContractError if own does not fit, before anything is sent.
[[nodiscard]] std::array<mpc::ArithShare, 3> InputEach(mpc::Context& party, const mpc::RingMatrix& own,
                                                       const std::array<Shape, 3>& shapes);
[[nodiscard]] mpc::Cost InputEachCost(const std::array<Shape, 3>& shapes);

/// InputEach with one owner; the others' `own` is empty.
[[nodiscard]] mpc::ArithShare Input(mpc::Context& party, int owner, const mpc::RingMatrix& own, Shape shape);
[[nodiscard]] mpc::Cost InputCost(int owner, mpc::Index count);

/// The sum of what all parties input. Pre: `own` of one shape, the same at all three. Cost: 1 round; 8 bytes
/// an element from each party (3 words). Throws: NetworkError, ProtocolError.
[[nodiscard]] mpc::ArithShare InputSum(mpc::Context& party, const mpc::RingMatrix& own);
/// The same of own + more, which is not made as a matrix. Throws: ContractError where their shapes differ,
/// before anything is sent.
[[nodiscard]] mpc::ArithShare InputSum(mpc::Context& party, const mpc::RingMatrix& own,
                                       const mpc::RingMatrix& more);
[[nodiscard]] mpc::Cost InputSumCost(mpc::Index count);

/// As InputEach, of bits: `planes` rows of counts[j] bits each by owner j, or none.
/// Cost: 1 round; owner j sends planes * counts[j] bits, rounded up to a byte. Throws: as InputEach.
[[nodiscard]] std::array<mpc::BoolShare, 3> InputEachBits(mpc::Context& party, const mpc::BitMatrix& own,
                                                          mpc::Index planes,
                                                          const std::array<mpc::Index, 3>& counts);
[[nodiscard]] mpc::Cost InputEachBitsCost(mpc::Index planes, const std::array<mpc::Index, 3>& counts);

/// InputEachBits with one owner; the others' `own` is ignored.
[[nodiscard]] mpc::BoolShare InputBits(mpc::Context& party, int owner, const mpc::BitMatrix& own,
                                       mpc::Index planes, mpc::Index count);
[[nodiscard]] mpc::Cost InputBitsCost(int owner, mpc::Index planes, mpc::Index count);

}  // namespace trefoil::protocols
