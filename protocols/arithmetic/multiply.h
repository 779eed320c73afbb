#pragma once
#include <vector>

#include "mpc/cost.h"
#include "mpc/narrow/packed_share.h"
#include "mpc/share.h"

namespace trefoil::protocols {

/// The element-wise product as a 3-of-3 sharing: z_i = x_i (y_i + y_{i+1}) + x_{i+1} y_i. Local.
/// Pre: the same shape. Source: Araki et al., CCS 2016, section 3.
[[nodiscard]] mpc::AdditiveShare LocalProduct(mpc::Context& party, const mpc::ArithShare& x,
                                              const mpc::ArithShare& y);
/// Row by row inner products (one column), 3-of-3. Local.
[[nodiscard]] mpc::AdditiveShare LocalRowInnerProducts(mpc::Context& party, const mpc::ArithShare& x,
                                                       const mpc::ArithShare& y);
/// The matrix products x y and xᵀ y, 3-of-3. Local.
[[nodiscard]] mpc::AdditiveShare LocalMatrixProduct(mpc::Context& party, const mpc::ArithShare& x,
                                                    const mpc::ArithShare& y);
[[nodiscard]] mpc::AdditiveShare LocalTransposedProduct(mpc::Context& party, const mpc::ArithShare& x,
                                                        const mpc::ArithShare& y);

/// The same of numbers modulo 2^width: the products are known modulo 2^width. Components that are zero take
/// no time.
[[nodiscard]] mpc::AdditiveShare LocalMatrixProduct(mpc::Context& party, const mpc::PackedShare& x,
                                                    const mpc::ArithShare& y);
[[nodiscard]] mpc::AdditiveShare LocalTransposedProduct(mpc::Context& party, const mpc::PackedShare& x,
                                                        const mpc::ArithShare& y);

/// From 3-of-3 to replicated: each party adds its part of a fresh sharing of zero and sends it to the party
/// before it. Cost: 1 round, 8 bytes an element from each party (3 words).
[[nodiscard]] mpc::ArithShare Reshare(mpc::Context& party, const mpc::AdditiveShare& z);
[[nodiscard]] mpc::Cost ReshareCost(mpc::Index count);

/// Element-wise product modulo 2^64. Cost: 1 round, 3 words an element.
[[nodiscard]] mpc::ArithShare Multiply(mpc::Context& party, const mpc::ArithShare& x,
                                       const mpc::ArithShare& y);
[[nodiscard]] mpc::Cost MultiplyCost(mpc::Index count);

/// Matrix product modulo 2^64. Cost: 1 round, 3 words an element of the result, whatever the inner size.
[[nodiscard]] mpc::ArithShare MatMul(mpc::Context& party, const mpc::ArithShare& x, const mpc::ArithShare& y);
[[nodiscard]] mpc::Cost MatMulCost(mpc::Index rows, mpc::Index cols);

/// Element-wise AND. Cost: 1 round, planes * count bits from each party, rounded up to a byte (3 words of
/// 64).
[[nodiscard]] mpc::BoolShare And(mpc::Context& party, const mpc::BoolShare& x, const mpc::BoolShare& y);
[[nodiscard]] mpc::Cost AndCost(mpc::Index planes, mpc::Index count);

/// Plane x of one share and plane y of another, whose AND goes into plane `result`.
struct AndTerm {
  mpc::Index x = 0;
  mpc::Index y = 0;
  mpc::Index result = 0;
};

/// Sums (exclusive ors) of ANDs of planes, as many as there are terms for each of the result's `planes`.
/// Pre: the same count; plane numbers in range. Cost: AndCost of the result, however many terms.
[[nodiscard]] mpc::BoolShare AndSums(mpc::Context& party, const mpc::BoolShare& x, const mpc::BoolShare& y,
                                     mpc::Index planes, const std::vector<AndTerm>& terms);

}  // namespace trefoil::protocols
