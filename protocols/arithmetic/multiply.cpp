#include "protocols/arithmetic/multiply.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/error.h"
#include "mpc/simd/bit_kernels.h"
#include "mpc/simd/elementwise_kernels.h"
#include "mpc/simd/kernels.h"

namespace trefoil::protocols {

using mpc::AdditiveShare;
using mpc::ArithShare;

namespace {

/// Calls add(component, whether it is the next party's, first row) for those that are not zero.
template <typename Add>
void ForBlocks(const mpc::PackedShare& x, Add add) {
  mpc::Index row = 0;
  for (const mpc::PackedShare::Block& block : x.blocks()) {
    if (block.own.size() > 0) add(block.own, false, row);
    if (block.next.size() > 0) add(block.next, true, row);
    row += block.rows;
  }
}

}  // namespace

AdditiveShare LocalProduct(mpc::Context& party, const ArithShare& x, const ArithShare& y) {
  Require(x.rows() == y.rows() && x.cols() == y.cols(), "LocalProduct: shapes differ");
  mpc::RingMatrix part(x.rows(), x.cols());
  mpc::ForParts(party.pool(), part.size(), 1, [&](mpc::Index first, mpc::Index count) {
    mpc::LocalProductOfWords(x.words().From(first), y.words().From(first), count, part.data() + first);
  });
  return AdditiveShare(std::move(part));
}

AdditiveShare LocalRowInnerProducts(mpc::Context& party, const ArithShare& x, const ArithShare& y) {
  return AdditiveShare(LocalProduct(party, x, y).part().rowwise().sum());
}

AdditiveShare LocalMatrixProduct(mpc::Context& party, const ArithShare& x, const ArithShare& y) {
  return AdditiveShare(mpc::MatrixProduct(party.pool(), x.own(), y.own() + y.next()) +
                       mpc::MatrixProduct(party.pool(), x.next(), y.own()));
}

AdditiveShare LocalTransposedProduct(mpc::Context& party, const ArithShare& x, const ArithShare& y) {
  return AdditiveShare(mpc::TransposedProduct(party.pool(), x.own(), y.own() + y.next()) +
                       mpc::TransposedProduct(party.pool(), x.next(), y.own()));
}

AdditiveShare LocalMatrixProduct(mpc::Context& party, const mpc::PackedShare& x, const ArithShare& y) {
  Require(x.cols() == y.rows(), "LocalMatrixProduct: inner sizes differ");
  mpc::RingMatrix part = mpc::RingMatrix::Zero(x.rows(), y.cols());
  const mpc::RingMatrix with_own = (y.own() + y.next()).transpose();
  const mpc::RingMatrix with_next = y.own().transpose();
  ForBlocks(x, [&](const mpc::PackedMatrix& component, bool next, mpc::Index row) {
    mpc::AddMatrixProduct(party.pool(), component, next ? with_next : with_own, row, part);
  });
  return AdditiveShare(std::move(part));
}

AdditiveShare LocalTransposedProduct(mpc::Context& party, const mpc::PackedShare& x, const ArithShare& y) {
  Require(x.rows() == y.rows(), "LocalTransposedProduct: inner sizes differ");
  mpc::RingMatrix part = mpc::RingMatrix::Zero(x.cols(), y.cols());
  const mpc::RingMatrix with_own = y.own() + y.next();
  ForBlocks(x, [&](const mpc::PackedMatrix& component, bool next, mpc::Index row) {
    mpc::AddTransposedProduct(party.pool(), component, next ? y.own() : with_own, row, part);
  });
  return AdditiveShare(std::move(part));
}

ArithShare Reshare(mpc::Context& party, const AdditiveShare& z) {
  mpc::RingMatrix own = party.DrawZero(party.NextOperation(), z.rows(), z.cols());
  mpc::AddWords(own.data(), z.part().data(), own.size(), own.data());
  party.SendWords(party.previous(), own);
  mpc::RingMatrix next = party.ReceiveWords(party.next(), z.rows(), z.cols());
  return {std::move(own), std::move(next)};
}

mpc::Cost ReshareCost(mpc::Index count) {
  return mpc::Cost::EachToPrevious(8 * static_cast<std::uint64_t>(count));
}

ArithShare Multiply(mpc::Context& party, const ArithShare& x, const ArithShare& y) {
  return Reshare(party, LocalProduct(party, x, y));
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
  for (const AndTerm& term : terms)
    Require(term.x < x.planes() && term.y < y.planes() && term.result < planes, "AndSums: no such plane");
  mpc::ForParts(party.pool(), own.words_per_plane(), std::max<mpc::Index>(1, std::ssize(terms)),
                [&](mpc::Index first, mpc::Index count) {
                  for (const AndTerm& term : terms) {
                    mpc::AddLocalAnd(x.plane(term.x).From(first), y.plane(term.y).From(first), count,
                                     own.plane(term.result) + first);
                  }
                });
  party.SendBits(party.previous(), own);
  mpc::BitMatrix next = party.ReceiveBits(party.next(), planes, x.count());
  return {std::move(own), std::move(next)};
}

mpc::Cost AndCost(mpc::Index planes, mpc::Index count) {
  return mpc::Cost::EachToPrevious(mpc::PackedBytes(planes, count));
}

}  // namespace trefoil::protocols
