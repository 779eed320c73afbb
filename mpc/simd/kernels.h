#pragma once
#include <functional>

#include "base/threads/thread_pool.h"
#include "mpc/narrow/packed_matrix.h"
#include "mpc/ring.h"

namespace trefoil::mpc {

/// The matrix product a * b modulo 2^64, rows of a shared out to the pool.
/// Pre: a.cols() == b.rows(). Throws ContractError otherwise.
[[nodiscard]] RingMatrix MatrixProduct(ThreadPool& pool, const RingMatrix& a, const RingMatrix& b);

/// The matrix product aᵀ * b modulo 2^64 without forming aᵀ, columns of a shared out to the pool.
/// Pre: a.rows() == b.rows(). Throws ContractError otherwise.
[[nodiscard]] RingMatrix TransposedProduct(ThreadPool& pool, const RingMatrix& a, const RingMatrix& b);

/// Adds a * b to rows [row, row + a.rows()) of `out`; `columns` is bᵀ. Of numbers modulo 2^width the result
/// is known modulo 2^width.
/// Pre: as many columns in `a` as in bᵀ, and such rows. Throws ContractError otherwise.
void AddMatrixProduct(ThreadPool& pool, const PackedMatrix& a, const RingMatrix& columns, Index row,
                      RingMatrix& out);

/// Adds aᵀ * b' to `out`, b' being rows [row, row + a.rows()) of `b`; the result is known as
/// AddMatrixProduct's.
/// Pre: such rows. Throws ContractError otherwise.
void AddTransposedProduct(ThreadPool& pool, const PackedMatrix& a, const RingMatrix& b, Index row,
                          RingMatrix& out);

/// Calls body(first, count) for parts that cover [0, words), shared out to the pool where they are so many
/// that waking a thread is worth it. `times` is how often the body goes through its words. Pre: times >= 1.
/// Rethrows as ThreadPool::ParallelFor does.
void ForParts(ThreadPool& pool, Index words, Index times,
              const std::function<void(Index first, Index count)>& body);

}  // namespace trefoil::mpc
