#include "protocols/arithmetic/input.h"

#include <algorithm>
#include <span>
#include <utility>

#include "base/error.h"
#include "mpc/simd/elementwise_kernels.h"

namespace trefoil::protocols {
namespace {

using mpc::Index;
using mpc::Purpose;
using mpc::RingMatrix;

/// So many words of every matrix stay in the cache until all is done with them.
constexpr Index kWordsAtOnce = 1024;

bool Empty(const Shape& shape) { return shape.rows * shape.cols == 0; }

/// InputEach of three owners of `own`, or of own + more, added up as it goes: what is zero is never made, and
/// memory is gone over once before the message is sent, and once when the other one has come.
mpc::ArithShare SumOfInputs(mpc::Context& party, const RingMatrix& own, const RingMatrix* more) {
  const mpc::OperationId operation = party.NextOperation();
  if (own.size() == 0) return mpc::ArithShare::Zero(own.rows(), own.cols());
  RingMatrix first(own.rows(), own.cols());
  RingMatrix second(own.rows(), own.cols());
  net::Bytes masked;
  masked.reserve(static_cast<std::size_t>(own.size()) * sizeof(mpc::Word));
  std::array<mpc::Word, kWordsAtOnce> rest;
  for (const int component : {party.self(), party.next()})
    party.StartDraw(component, Purpose::kInput, operation);
  for (Index at = 0; at < own.size(); at += kWordsAtOnce) {
    const Index count = std::min(kWordsAtOnce, own.size() - at);
    const auto words = static_cast<std::size_t>(count);
    party.ContinueDraw(party.self(), {first.data() + at, words});
    party.ContinueDraw(party.next(), {second.data() + at, words});
    mpc::SubtractWords(own.data() + at, first.data() + at, count, rest.data());
    if (more != nullptr) mpc::AddWords(rest.data(), more->data() + at, count, rest.data());
    mpc::AddWords(second.data() + at, rest.data(), count, second.data() + at);
    const auto bytes = std::as_bytes(std::span(rest).first(words));
    masked.insert(masked.end(), bytes.begin(), bytes.end());
  }
  party.transport().Send(party.next(), std::move(masked));
  party.AddReceivedWords(party.previous(), first);
  return {std::move(first), std::move(second)};
}

}  // namespace

std::array<mpc::ArithShare, 3> InputEach(mpc::Context& party, const RingMatrix& own,
                                         const std::array<Shape, 3>& shapes) {
  const auto self = static_cast<std::size_t>(party.self());
  Require(Empty(shapes[self]) || (own.rows() == shapes[self].rows && own.cols() == shapes[self].cols),
          "InputEach: the own values have another shape than announced");
  const mpc::OperationId operation = party.NextOperation();
  std::array<mpc::ArithShare, 3> shares;
  for (std::size_t owner = 0; owner < shapes.size(); ++owner) {
    const Shape& shape = shapes[owner];
    if (Empty(shape)) shares[owner] = mpc::ArithShare::Zero(shape.rows, shape.cols);
  }
  if (!Empty(shapes[self])) {
    RingMatrix mask = party.Draw(party.self(), Purpose::kInput, operation, own.rows(), own.cols());
    RingMatrix rest = mpc::DifferenceOf(own, mask);
    party.SendWords(party.next(), rest);
    shares[self] = {std::move(mask), std::move(rest)};
  }
  // Of the next party's input this party holds that party's own component as its second, from the PRG.
  const auto next = static_cast<std::size_t>(party.next());
  if (!Empty(shapes[next])) {
    const Shape shape = shapes[next];
    shares[next] = {RingMatrix::Zero(shape.rows, shape.cols),
                    party.Draw(party.next(), Purpose::kInput, operation, shape.rows, shape.cols)};
  }
  const auto previous = static_cast<std::size_t>(party.previous());
  if (!Empty(shapes[previous])) {
    const Shape shape = shapes[previous];
    shares[previous] = {party.ReceiveWords(party.previous(), shape.rows, shape.cols),
                        RingMatrix::Zero(shape.rows, shape.cols)};
  }
  return shares;
}

mpc::Cost InputEachCost(const std::array<Shape, 3>& shapes) {
  mpc::Cost cost;
  for (int owner = 0; owner < net::kParties; ++owner) {
    const Shape& shape = shapes[static_cast<std::size_t>(owner)];
    const auto bytes = 8 * static_cast<std::uint64_t>(shape.rows * shape.cols);
    if (bytes > 0) cost = InOneRound(cost, mpc::Cost::Round({{owner, (owner + 1) % net::kParties, bytes}}));
  }
  return cost;
}

mpc::ArithShare Input(mpc::Context& party, int owner, const RingMatrix& own, Shape shape) {
  Require(owner >= 0 && owner < net::kParties, "Input: party 0, 1 or 2");
  std::array<Shape, 3> shapes{};
  shapes[static_cast<std::size_t>(owner)] = shape;
  return InputEach(party, own, shapes)[static_cast<std::size_t>(owner)];
}

mpc::Cost InputCost(int owner, mpc::Index count) {
  std::array<Shape, 3> shapes{};
  shapes[static_cast<std::size_t>(owner)] = {.rows = count, .cols = 1};
  return InputEachCost(shapes);
}

mpc::ArithShare InputSum(mpc::Context& party, const RingMatrix& own) {
  return SumOfInputs(party, own, nullptr);
}

mpc::ArithShare InputSum(mpc::Context& party, const RingMatrix& own, const RingMatrix& more) {
  Require(own.rows() == more.rows() && own.cols() == more.cols(), "InputSum: two matrices of one shape");
  return SumOfInputs(party, own, &more);
}

mpc::Cost InputSumCost(mpc::Index count) {
  const Shape shape{.rows = count, .cols = 1};
  return InputEachCost({shape, shape, shape});
}

std::array<mpc::BoolShare, 3> InputEachBits(mpc::Context& party, const mpc::BitMatrix& own, Index planes,
                                            const std::array<Index, 3>& counts) {
  const auto self = static_cast<std::size_t>(party.self());
  Require(counts[self] == 0 || (own.planes() == planes && own.count() == counts[self]),
          "InputEachBits: the own bits have another shape than announced");
  const mpc::OperationId operation = party.NextOperation();
  std::array<mpc::BoolShare, 3> shares;
  shares.fill({mpc::BitMatrix(planes, 0), mpc::BitMatrix(planes, 0)});
  if (counts[self] > 0) {
    mpc::BitMatrix mask = party.DrawBits(party.self(), Purpose::kInput, operation, planes, counts[self]);
    mpc::BitMatrix rest = own ^ mask;
    party.SendBits(party.next(), rest);
    shares[self] = {std::move(mask), std::move(rest)};
  }
  const auto next = static_cast<std::size_t>(party.next());
  if (counts[next] > 0) {
    shares[next] = {mpc::BitMatrix(planes, counts[next]),
                    party.DrawBits(party.next(), Purpose::kInput, operation, planes, counts[next])};
  }
  const auto previous = static_cast<std::size_t>(party.previous());
  if (counts[previous] > 0) {
    shares[previous] = {party.ReceiveBits(party.previous(), planes, counts[previous]),
                        mpc::BitMatrix(planes, counts[previous])};
  }
  return shares;
}

mpc::Cost InputEachBitsCost(Index planes, const std::array<Index, 3>& counts) {
  mpc::Cost cost;
  for (int owner = 0; owner < net::kParties; ++owner) {
    const Index count = counts[static_cast<std::size_t>(owner)];
    if (count == 0) continue;
    const mpc::Flow flow{owner, (owner + 1) % net::kParties, mpc::PackedBytes(planes, count)};
    cost = InOneRound(cost, mpc::Cost::Round({flow}));
  }
  return cost;
}

mpc::BoolShare InputBits(mpc::Context& party, int owner, const mpc::BitMatrix& own, Index planes,
                         Index count) {
  std::array<Index, 3> counts{};
  counts.at(static_cast<std::size_t>(owner)) = count;
  return InputEachBits(party, own, planes, counts)[static_cast<std::size_t>(owner)];
}

mpc::Cost InputBitsCost(int owner, Index planes, Index count) {
  std::array<Index, 3> counts{};
  counts.at(static_cast<std::size_t>(owner)) = count;
  return InputEachBitsCost(planes, counts);
}

}  // namespace trefoil::protocols
