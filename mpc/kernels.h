#pragma once
#include "base/thread_pool.h"
#include "mpc/ring.h"

namespace trefoil::mpc {

/// The matrix product a * b modulo 2^64, rows of a shared out to the pool.
/// Pre: a.cols() == b.rows(). Throws ContractError otherwise.
[[nodiscard]] RingMatrix MatrixProduct(ThreadPool& pool, const RingMatrix& a, const RingMatrix& b);

/// The matrix product aᵀ * b modulo 2^64 without forming aᵀ, columns of a shared out to the pool.
/// Pre: a.rows() == b.rows(). Throws ContractError otherwise.
[[nodiscard]] RingMatrix TransposedProduct(ThreadPool& pool, const RingMatrix& a, const RingMatrix& b);

}  // namespace trefoil::mpc
