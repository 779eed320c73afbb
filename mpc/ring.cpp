#include "mpc/ring.h"

#include <algorithm>

#include "base/error.h"

namespace trefoil::mpc {

RingMatrix Reshaped(const RingMatrix& x, Index rows, Index cols) {
  Require(rows >= 0 && cols >= 0 && rows * cols == x.size(),
          "Reshaped: the number of elements must stay the same");
  RingMatrix out(rows, cols);
  std::copy_n(x.data(), x.size(), out.data());
  return out;
}

RingMatrix LowBits(const RingMatrix& x, int bits) {
  Require(bits >= 0 && bits < 64, "LowBits: 0 to 63 bits");
  return x.unaryExpr([bits](Word word) { return word & ((Word{1} << bits) - 1); });
}

RingMatrix Stacked(const RingMatrix& top, const RingMatrix& bottom) {
  if (top.rows() == 0) return bottom;
  if (bottom.rows() == 0) return top;
  Require(top.cols() == bottom.cols(), "Stacked: the same number of columns");
  RingMatrix out(top.rows() + bottom.rows(), top.cols());
  out.topRows(top.rows()) = top;
  out.bottomRows(bottom.rows()) = bottom;
  return out;
}

RingMatrix SideBySide(const RingMatrix& left, const RingMatrix& right) {
  Require(left.rows() == right.rows(), "SideBySide: the same number of rows");
  RingMatrix out(left.rows(), left.cols() + right.cols());
  out << left, right;
  return out;
}

}  // namespace trefoil::mpc
