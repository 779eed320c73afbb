#include "mpc/share.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "mpc/simd/elementwise_kernels.h"

namespace trefoil::mpc {
namespace {

/// Columns [first, first + count) to where `out` begins, row by row.
void CopyColumns(const RingMatrix& x, Index first, Index count, Word* out) {
  for (Index row = 0; row < x.rows(); ++row)
    std::copy_n(x.data() + row * x.cols() + first, count, out + row * count);
}

void RequireSameShape(const RingMatrix& a, const RingMatrix& b) {
  Require(a.rows() == b.rows() && a.cols() == b.cols(), "shares of different shapes");
}

RingMatrix Scaled(Word factor, const RingMatrix& a) {
  RingMatrix out(a.rows(), a.cols());
  ScaleWords(factor, a.data(), out.size(), out.data());
  return out;
}

}  // namespace

ArithShare::ArithShare(RingMatrix own, RingMatrix next) : own_(std::move(own)), next_(std::move(next)) {
  RequireSameShape(own_, next_);
}

ArithShare ArithShare::Zero(Index rows, Index cols) {
  return {RingMatrix::Zero(rows, cols), RingMatrix::Zero(rows, cols)};
}

ArithShare operator+(const ArithShare& a, const ArithShare& b) {
  return {SumOf(a.own_, b.own_), SumOf(a.next_, b.next_)};
}

ArithShare operator-(const ArithShare& a, const ArithShare& b) {
  return {DifferenceOf(a.own_, b.own_), DifferenceOf(a.next_, b.next_)};
}

ArithShare operator-(const ArithShare& a) { return ~Word{0} * a; }

ArithShare operator*(Word factor, const ArithShare& a) {
  return {Scaled(factor, a.own_), Scaled(factor, a.next_)};
}

ArithShare AddPublic(const Context& party, const ArithShare& x, const RingMatrix& c) {
  RequireSameShape(x.own(), c);
  // The constant goes to component 0, which P0 holds first and P2 second.
  if (party.self() == 0) return {x.own() + c, x.next()};
  if (party.self() == 2) return {x.own(), x.next() + c};
  return x;
}

ArithShare AddPublic(const Context& party, const ArithShare& x, Word c) {
  return AddPublic(party, x, RingMatrix::Constant(x.rows(), x.cols(), c));
}

ArithShare Reshaped(const ArithShare& x, Index rows, Index cols) {
  return {Reshaped(x.own(), rows, cols), Reshaped(x.next(), rows, cols)};
}

ArithShare Rows(const ArithShare& x, Index first, Index count) {
  Require(first >= 0 && count >= 0 && first + count <= x.rows(), "Rows: out of range");
  return {x.own().middleRows(first, count), x.next().middleRows(first, count)};
}

ArithShare Stacked(const ArithShare& top, const ArithShare& bottom) {
  return {Stacked(top.own(), bottom.own()), Stacked(top.next(), bottom.next())};
}

ArithShare Columns(const ArithShare& x, Index first, Index count) {
  return StackedColumns(std::span(&x, 1), first, count);
}

ArithShare StackedColumns(std::span<const ArithShare> parts, Index first, Index count) {
  Require(!parts.empty(), "StackedColumns: at least one matrix");
  Index rows = 0;
  for (const ArithShare& part : parts) {
    Require(first >= 0 && count >= 0 && first + count <= part.cols(), "StackedColumns: out of range");
    rows += part.rows();
  }
  RingMatrix own(rows, count);
  RingMatrix next(rows, count);
  Index row = 0;
  for (const ArithShare& part : parts) {
    CopyColumns(part.own(), first, count, own.data() + row * count);
    CopyColumns(part.next(), first, count, next.data() + row * count);
    row += part.rows();
  }
  return {std::move(own), std::move(next)};
}

ArithShare SideBySide(const ArithShare& left, const ArithShare& right) {
  return {SideBySide(left.own(), right.own()), SideBySide(left.next(), right.next())};
}

ArithShare Transposed(const ArithShare& x) { return {x.own().transpose(), x.next().transpose()}; }

ArithShare RepeatedColumn(const ArithShare& column, Index times) {
  Require(column.cols() == 1, "RepeatedColumn: one column");
  return {column.own().replicate(1, times), column.next().replicate(1, times)};
}

ArithShare RowSums(const ArithShare& x) { return {x.own().rowwise().sum(), x.next().rowwise().sum()}; }

AdditiveShare operator+(const AdditiveShare& a, const AdditiveShare& b) {
  return AdditiveShare(SumOf(a.part_, b.part_));
}

AdditiveShare operator*(Word factor, const AdditiveShare& a) {
  return AdditiveShare(Scaled(factor, a.part_));
}

AdditiveShare ToAdditive(const ArithShare& x) { return AdditiveShare(x.own()); }

BoolShare::BoolShare(BitMatrix own, BitMatrix next) : own_(std::move(own)), next_(std::move(next)) {
  Require(own_.planes() == next_.planes() && own_.count() == next_.count(), "shares of different shapes");
}

BoolShare operator^(const BoolShare& a, const BoolShare& b) { return {a.own_ ^ b.own_, a.next_ ^ b.next_}; }

BoolShare Not(const Context& party, const BoolShare& x) {
  BitMatrix ones(x.planes(), x.count());
  ones.words().setConstant(~Word{0});
  ones.ClearTail();
  if (party.self() == 0) return {x.own() ^ ones, x.next()};
  if (party.self() == 2) return {x.own(), x.next() ^ ones};
  return x;
}

BoolShare Planes(const BoolShare& x, Index first, Index planes) {
  return {Planes(x.own(), first, planes), Planes(x.next(), first, planes)};
}

BoolShare Stacked(const BoolShare& top, const BoolShare& bottom) {
  return {Stacked(top.own(), bottom.own()), Stacked(top.next(), bottom.next())};
}

}  // namespace trefoil::mpc
