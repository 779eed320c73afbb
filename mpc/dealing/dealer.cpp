#include "mpc/dealing/dealer.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "mpc/simd/elementwise_kernels.h"

namespace trefoil::mpc {

Dealer::Dealer(Prss& prss, OperationId operation, const Roles& roles, ThreadPool& pool, Send send,
               std::int64_t runs_later)
    : prss_(prss),
      operation_(operation),
      roles_(roles),
      pool_(pool),
      send_(std::move(send)),
      runs_later_(runs_later) {}

// D holds the component that it shares with A, which has A's number, and the one that it shares with B, which
// has its own.
RingMatrix Dealer::Mask(Index rows, Index cols) const {
  RingMatrix mask = Draw(roles_.a, Purpose::kMask, rows, cols);
  const RingMatrix own = Draw(roles_.dealer, Purpose::kMask, rows, cols);
  AddWords(mask.data(), own.data(), mask.size(), mask.data());
  return mask;
}

BitMatrix Dealer::BitMask(Index planes, Index count) const {
  const auto part = [&](int component) {
    BitMatrix bits = BitMatrix::ToBeWritten(planes, count);
    prss_.Fill(component, Purpose::kMask, operation_,
               {bits.words().data(), static_cast<std::size_t>(bits.words().size())});
    bits.ClearTail();
    return bits;
  };
  return part(roles_.a) ^ part(roles_.dealer);
}

RingMatrix Dealer::Roots(int role, Index count) const {
  Require(role == roles_.a || role == roles_.b, "Dealer::Roots: of A or B");
  return Draw(role == roles_.a ? roles_.a : roles_.dealer, Purpose::kRoots, count, 2);
}

Dealer::Parts Dealer::Share(RingMatrix values, Purpose purpose) const {
  RingMatrix of_a = Draw(roles_.a, purpose, values.rows(), values.cols());
  SubtractWords(values.data(), of_a.data(), values.size(), values.data());
  send_(roles_.b, ToBytes(values));
  return {.of_a = NarrowMatrix(std::move(of_a)), .of_b = NarrowMatrix(std::move(values))};
}

Dealer::Parts Dealer::ShareRows(Index rows, Index cols, const MakeRows& make, Purpose purpose,
                                const NarrowColumns& narrow) const {
  RequireFits(narrow, cols);
  const auto made = [&](Index first, Index count) {
    RingMatrix values = make(first, count);
    Require(values.rows() == count && values.cols() == cols, "Dealer::ShareRows: rows of another shape");
    return values;
  };
  const Index packed = narrow.packed();
  if (packed == 0) return Share(made(0, rows), purpose);
  Parts parts{.of_a = {rows, cols, narrow}, .of_b = {rows, cols, narrow}};
  net::Bytes message(PackedBytes(narrow.width, rows * packed));
  RingMatrix drawn(std::min(rows, kRowsAtOnce), cols);
  prss_.Start(roles_.a, purpose, operation_);
  for (Index row = 0; row < rows; row += drawn.rows()) {
    const Index here = std::min(drawn.rows(), rows - row);
    RingMatrix values = made(row, here);
    prss_.Continue(roles_.a, {drawn.data(), static_cast<std::size_t>(values.size())});
    SubtractWords(values.data(), drawn.data(), values.size(), values.data());
    parts.of_a.PutRows(row, here, {.data = drawn.data(), .stride = cols});
    parts.of_b.PutRows(row, here, {.data = values.data(), .stride = cols});
    PutPacked(ToPlanes(values.leftCols(packed), narrow.width), row * packed, rows * packed, message);
  }
  send_(roles_.b, std::move(message));
  if (packed < cols) send_(roles_.b, ToBytes(parts.of_b.whole));
  return parts;
}

void Dealer::ShareHalves(HalfMatrix values) const {
  HalfMatrix of_a(values.rows(), values.cols());
  prss_.FillHalves(roles_.a, Purpose::kDeal, operation_,
                   {of_a.data(), static_cast<std::size_t>(of_a.size())});
  values -= of_a;
  send_(roles_.b, ToBytes(values));
}

void Dealer::SendSame(const RingMatrix& words) const {
  send_(roles_.a, ToBytes(words));
  send_(roles_.b, ToBytes(words));
}

RingMatrix Dealer::Draw(int component, Purpose purpose, Index rows, Index cols) const {
  RingMatrix out(rows, cols);
  prss_.Fill(component, purpose, operation_, {out.data(), static_cast<std::size_t>(out.size())});
  return out;
}

namespace {

template <typename Matrix>
net::Bytes BytesOf(const Matrix& words) {
  const auto* bytes = reinterpret_cast<const std::byte*>(words.data());
  return {bytes, bytes + static_cast<std::size_t>(words.size()) * sizeof(typename Matrix::Scalar)};
}

}  // namespace

net::Bytes ToBytes(const RingMatrix& words) { return BytesOf(words); }
net::Bytes ToBytes(const HalfMatrix& words) { return BytesOf(words); }

}  // namespace trefoil::mpc
