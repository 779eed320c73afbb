#include "protocols/multiply.h"

#include <utility>

#include "base/error.h"
#include "mpc/kernels.h"

namespace trefoil::protocols {
namespace {

/// Adds this party's part of a plane of x times one of y to a plane of `part`, in one pass.
void AddLocalAnd(const mpc::BoolShare& x, const mpc::BoolShare& y, const AndTerm& term,
                 mpc::BitMatrix& part) {
  const auto row = [](const mpc::BitMatrix& bits, mpc::Index plane) {
    return bits.words().data() + plane * bits.words().cols();
  };
  const mpc::Word* x_own = row(x.own(), term.x);
  const mpc::Word* x_next = row(x.next(), term.x);
  const mpc::Word* y_own = row(y.own(), term.y);
  const mpc::Word* y_next = row(y.next(), term.y);
  mpc::Word* out = part.words().data() + term.result * part.words().cols();
  for (mpc::Index k = 0; k < part.words().cols(); ++k)
    out[k] ^= (x_own[k] & (y_own[k] ^ y_next[k])) ^ (x_next[k] & y_own[k]);
}

}  // namespace

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
  mpc::RingMatrix own = party.DrawZero(party.NextOperation(), z.rows(), z.cols());
  own += z.part();
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
  Require(x.planes() == y.planes(), "And: shapes differ");
  std::vector<AndTerm> terms;
  for (mpc::Index plane = 0; plane < x.planes(); ++plane) terms.push_back({plane, plane, plane});
  return AndSums(party, x, y, x.planes(), terms);
}

mpc::BoolShare AndSums(mpc::Context& party, const mpc::BoolShare& x, const mpc::BoolShare& y,
                       mpc::Index planes, const std::vector<AndTerm>& terms) {
  Require(x.count() == y.count(), "AndSums: shapes differ");
  mpc::BitMatrix own = party.DrawZeroBits(party.NextOperation(), planes, x.count());
  for (const AndTerm& term : terms) {
    Require(term.x < x.planes() && term.y < y.planes() && term.result < planes, "AndSums: no such plane");
    AddLocalAnd(x, y, term, own);
  }
  party.SendBits(party.previous(), own);
  mpc::BitMatrix next = party.ReceiveBits(party.next(), planes, x.count());
  return {std::move(own), std::move(next)};
}

mpc::Cost AndCost(mpc::Index planes, mpc::Index count) {
  return mpc::Cost::EachToPrevious(mpc::PackedBytes(planes, count));
}

}  // namespace trefoil::protocols
