#include "mpc/kernels.h"

#include "base/error.h"

namespace trefoil::mpc {
namespace {

constexpr std::size_t kRowsPerTask = 32;

}  // namespace

RingMatrix MatrixProduct(ThreadPool& pool, const RingMatrix& a, const RingMatrix& b) {
  Require(a.cols() == b.rows(), "MatrixProduct: inner sizes differ");
  RingMatrix out(a.rows(), b.cols());
  pool.ParallelFor(static_cast<std::size_t>(a.rows()), kRowsPerTask, [&](std::size_t begin, std::size_t end) {
    const auto first = static_cast<Index>(begin);
    const auto count = static_cast<Index>(end - begin);
    out.middleRows(first, count).matrix().noalias() = a.middleRows(first, count).matrix() * b.matrix();
  });
  return out;
}

RingMatrix TransposedProduct(ThreadPool& pool, const RingMatrix& a, const RingMatrix& b) {
  Require(a.rows() == b.rows(), "TransposedProduct: inner sizes differ");
  RingMatrix out(a.cols(), b.cols());
  pool.ParallelFor(static_cast<std::size_t>(a.cols()), kRowsPerTask, [&](std::size_t begin, std::size_t end) {
    const auto first = static_cast<Index>(begin);
    const auto count = static_cast<Index>(end - begin);
    out.middleRows(first, count).matrix().noalias() =
        a.middleCols(first, count).matrix().transpose() * b.matrix();
  });
  return out;
}

}  // namespace trefoil::mpc
