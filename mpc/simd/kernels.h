#pragma once
#include <functional>

#include "base/threads/thread_pool.h"
#include "mpc/ring.h"

namespace trefoil::mpc {

/// The matrix product a * b modulo 2^64, rows of a shared out to the pool.
/// Pre: a.cols() == b.rows(). Throws ContractError otherwise.
[[nodiscard]] RingMatrix MatrixProduct(ThreadPool& pool, const RingMatrix& a, const RingMatrix& b);

/// The matrix product aᵀ * b modulo 2^64 without forming aᵀ, columns of a shared out to the pool.
/// Pre: a.rows() == b.rows(). Throws ContractError otherwise.
[[nodiscard]] RingMatrix TransposedProduct(ThreadPool& pool, const RingMatrix& a, const RingMatrix& b);

/// Calls body(first, count) for parts that cover [0, words), shared out to the pool where they are so many
/// that waking a thread is worth it. `times` is how often the body goes through its words. Pre: times >= 1.
/// Rethrows as ThreadPool::ParallelFor does.
void ForParts(ThreadPool& pool, Index words, Index times,
              const std::function<void(Index first, Index count)>& body);

}  // namespace trefoil::mpc
