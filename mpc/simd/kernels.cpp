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

/// Whether numbers are multiplied as half words.
bool AreHalves(const PackedMatrix& a) { return a.width() > 24 && a.width() <= 32; }

ConstHalfRows RowsFrom(const HalfMatrix& x) { return {.data = x.data(), .stride = x.cols()}; }

/// Calls add(first, count) for rows of a result, shared out to the pool.
void ForRows(ThreadPool& pool, Index rows, const std::function<void(Index first, Index count)>& add) {
  pool.ParallelFor(static_cast<std::size_t>(rows), kRowsPerTask, [&](std::size_t begin, std::size_t end) {
    add(static_cast<Index>(begin), static_cast<Index>(end - begin));
  });
}

}  // namespace

RingMatrix MatrixProduct(ThreadPool& pool, const RingMatrix& a, const RingMatrix& b) {
  Require(a.cols() == b.rows(), "MatrixProduct: inner sizes differ");
  RingMatrix out = RingMatrix::Zero(a.rows(), b.cols());
  const RingMatrix columns = b.transpose();
  ForRows(pool, a.rows(), [&](Index first, Index count) {
    AddRowByRowProduct({.rows = count, .cols = b.cols(), .inner = a.cols()}, RowsFrom(a, first),
                       RowsFrom(columns, 0), RowsFrom(out, first));
  });
  return out;
}

RingMatrix TransposedProduct(ThreadPool& pool, const RingMatrix& a, const RingMatrix& b) {
  Require(a.rows() == b.rows(), "TransposedProduct: inner sizes differ");
  RingMatrix out = RingMatrix::Zero(a.cols(), b.cols());
  ForRows(pool, a.cols(), [&](Index first, Index count) {
    AddColumnByColumnProduct({.rows = count, .cols = b.cols(), .inner = a.rows()}, RowsFrom(a, 0, first),
                             RowsFrom(b, 0), RowsFrom(out, first));
  });
  return out;
}

void AddMatrixProduct(ThreadPool& pool, const PackedMatrix& a, const RingMatrix& columns, Index row,
                      RingMatrix& out) {
  Require(
      a.cols() == columns.cols() && columns.rows() == out.cols() && row >= 0 && row + a.rows() <= out.rows(),
      "AddMatrixProduct: sizes differ");
  const HalfMatrix halves = AreHalves(a) ? HalfMatrix(columns.cast<HalfWord>()) : HalfMatrix();
  ForRows(pool, a.rows(), [&](Index first, Index count) {
    const ProductSizes sizes{.rows = count, .cols = out.cols(), .inner = a.cols()};
    if (AreHalves(a)) {
      AddRowByRowProduct(sizes, a.From(first, 0), RowsFrom(halves), RowsFrom(out, row + first));
    } else {
      AddRowByRowProduct(sizes, a.From(first, 0), RowsFrom(columns, 0), RowsFrom(out, row + first));
    }
  });
}

void AddTransposedProduct(ThreadPool& pool, const PackedMatrix& a, const RingMatrix& b, Index row,
                          RingMatrix& out) {
  Require(row >= 0 && row + a.rows() <= b.rows() && a.cols() == out.rows() && b.cols() == out.cols(),
          "AddTransposedProduct: sizes differ");
  const HalfMatrix halves =
      AreHalves(a) ? HalfMatrix(b.middleRows(row, a.rows()).cast<HalfWord>()) : HalfMatrix();
  ForRows(pool, a.cols(), [&](Index first, Index count) {
    const ProductSizes sizes{.rows = count, .cols = out.cols(), .inner = a.rows()};
    if (AreHalves(a)) {
      AddColumnByColumnProduct(sizes, a.From(0, first), RowsFrom(halves), RowsFrom(out, first));
    } else {
      AddColumnByColumnProduct(sizes, a.From(0, first), RowsFrom(b, row), RowsFrom(out, first));
    }
  });
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
