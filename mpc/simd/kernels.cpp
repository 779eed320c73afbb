#include "mpc/simd/kernels.h"

#include "base/error.h"
#include "mpc/simd/product_kernels.h"

namespace trefoil::mpc {
namespace {

constexpr std::size_t kRowsPerTask = 32;
constexpr Index kWordsPerTask = Index{1} << 15;  // some ten microseconds

ConstRows RowsFrom(const RingMatrix& x, Index row, Index col = 0) {
  return {.data = x.data() + row * x.cols() + col, .stride = x.cols()};
}

MutableRows RowsFrom(RingMatrix& x, Index row) {
  return {.data = x.data() + row * x.cols(), .stride = x.cols()};
}

}  // namespace

RingMatrix MatrixProduct(ThreadPool& pool, const RingMatrix& a, const RingMatrix& b) {
  Require(a.cols() == b.rows(), "MatrixProduct: inner sizes differ");
  RingMatrix out(a.rows(), b.cols());
  const RingMatrix columns = b.transpose();
  pool.ParallelFor(static_cast<std::size_t>(a.rows()), kRowsPerTask, [&](std::size_t begin, std::size_t end) {
    const auto first = static_cast<Index>(begin);
    RowByRowProduct({.rows = static_cast<Index>(end) - first, .cols = b.cols(), .inner = a.cols()},
                    RowsFrom(a, first), RowsFrom(columns, 0), RowsFrom(out, first));
  });
  return out;
}

RingMatrix TransposedProduct(ThreadPool& pool, const RingMatrix& a, const RingMatrix& b) {
  Require(a.rows() == b.rows(), "TransposedProduct: inner sizes differ");
  RingMatrix out(a.cols(), b.cols());
  pool.ParallelFor(static_cast<std::size_t>(a.cols()), kRowsPerTask, [&](std::size_t begin, std::size_t end) {
    const auto first = static_cast<Index>(begin);
    ColumnByColumnProduct({.rows = static_cast<Index>(end) - first, .cols = b.cols(), .inner = a.rows()},
                          RowsFrom(a, 0, first), RowsFrom(b, 0), RowsFrom(out, first));
  });
  return out;
}

void ForParts(ThreadPool& pool, Index words, Index times,
              const std::function<void(Index first, Index count)>& body) {
  Require(times >= 1, "ForParts: words that are gone through");
  const auto grain = static_cast<std::size_t>((kWordsPerTask + times - 1) / times);
  pool.ParallelFor(static_cast<std::size_t>(words), grain, [&](std::size_t begin, std::size_t end) {
    body(static_cast<Index>(begin), static_cast<Index>(end - begin));
  });
}

}  // namespace trefoil::mpc
