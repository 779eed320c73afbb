#include "protocols/multiply.h"

#include "base/error.h"
#include "mpc/kernels.h"

namespace trefoil::protocols {

using mpc::AdditiveShare;
using mpc::ArithShare;

AdditiveShare LocalProduct(const ArithShare& x, const ArithShare& y) {
  Require(x.rows() == y.rows() && x.cols() == y.cols(), "LocalProduct: shapes differ");
  return AdditiveShare(x.own() * (y.own() + y.next()) + x.next() * y.own());
}

AdditiveShare LocalRowInnerProducts(const ArithShare& x, const ArithShare& y) {
  return AdditiveShare(LocalProduct(x, y).part().rowwise().sum());
}

AdditiveShare LocalMatrixProduct(mpc::Context& party, const ArithShare& x, const ArithShare& y) {
  return AdditiveShare(mpc::MatrixProduct(party.pool(), x.own(), y.own() + y.next()) +
                       mpc::MatrixProduct(party.pool(), x.next(), y.own()));
}

AdditiveShare LocalTransposedProduct(mpc::Context& party, const ArithShare& x, const ArithShare& y) {
  return AdditiveShare(mpc::TransposedProduct(party.pool(), x.own(), y.own() + y.next()) +
                       mpc::TransposedProduct(party.pool(), x.next(), y.own()));
}

ArithShare Reshare(mpc::Context& party, const AdditiveShare& z) {
  mpc::RingMatrix own = z.part() + party.DrawZero(party.NextOperation(), z.rows(), z.cols());
  party.SendWords(party.previous(), own);
  mpc::RingMatrix next = party.ReceiveWords(party.next(), z.rows(), z.cols());
  return {std::move(own), std::move(next)};
}

mpc::Cost ReshareCost(mpc::Index count) {
  return mpc::Cost::EachToPrevious(8 * static_cast<std::uint64_t>(count));
}

ArithShare Multiply(mpc::Context& party, const ArithShare& x, const ArithShare& y) {
  return Reshare(party, LocalProduct(x, y));
}

mpc::Cost MultiplyCost(mpc::Index count) { return ReshareCost(count); }

ArithShare MatMul(mpc::Context& party, const ArithShare& x, const ArithShare& y) {
  return Reshare(party, LocalMatrixProduct(party, x, y));
}

mpc::Cost MatMulCost(mpc::Index rows, mpc::Index cols) { return ReshareCost(rows * cols); }

mpc::BoolShare And(mpc::Context& party, const mpc::BoolShare& x, const mpc::BoolShare& y) {
  mpc::BitMatrix own = (x.own() & (y.own() ^ y.next())) ^ (x.next() & y.own()) ^
                       party.DrawZeroBits(party.NextOperation(), x.planes(), x.count());
  party.SendBits(party.previous(), own);
  mpc::BitMatrix next = party.ReceiveBits(party.next(), x.planes(), x.count());
  return {std::move(own), std::move(next)};
}

mpc::Cost AndCost(mpc::Index planes, mpc::Index count) {
  return mpc::Cost::EachToPrevious(mpc::PackedBytes(planes, count));
}

}  // namespace trefoil::protocols
