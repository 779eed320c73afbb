#include "protocols/comparison/small_table.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/secrets/constant_time.h"
#include "protocols/arithmetic/masked_opening.h"

namespace trefoil::protocols {
namespace {

using mpc::Index;
using mpc::RingMatrix;
using mpc::Word;

constexpr int kMaxTableBits = 12;
constexpr std::size_t kElementsAtATime = 64;  // a task of the pool

Index SizeOf(const SmallTables& tables) { return Index{1} << tables.bits; }

void RequireWellFormed(const SmallTables& tables) {
  Require(tables.bits >= 1 && tables.bits <= kMaxTableBits, "LookUpByLowBits: 1 to 12 bits");
  Require(!tables.tables.empty(), "LookUpByLowBits: at least one table");
  for (const std::vector<Word>& table : tables.tables)
    Require(static_cast<Index>(table.size()) == SizeOf(tables), "LookUpByLowBits: tables of 2^bits words");
}

/// A row an element, with a 1 where its mask is. Every place is written alike: which one has the 1 is secret.
RingMatrix OneHot(const RingMatrix& mask, Index size) {
  RingMatrix rows(mask.size(), size);
  for (Index k = 0; k < mask.size(); ++k) {
    const Word place = mask.data()[k] & static_cast<Word>(size - 1);
    for (Index r = 0; r < size; ++r) rows(k, r) = IsEqual(place, static_cast<Word>(r));
  }
  return rows;
}

/// sum_r one_hot(r) table(c - r): at the mask, c - r is x.
RingMatrix Rotated(ThreadPool& pool, const SmallTables& tables, const RingMatrix& one_hot,
                   const RingMatrix& c) {
  const Index size = SizeOf(tables);
  RingMatrix sums = RingMatrix::Zero(static_cast<Index>(tables.tables.size()), c.size());
  pool.ParallelFor(
      static_cast<std::size_t>(c.size()), kElementsAtATime, [&](std::size_t begin, std::size_t end) {
        for (auto k = static_cast<Index>(begin); k < static_cast<Index>(end); ++k) {
          for (Index row = 0; row < sums.rows(); ++row) {
            const std::vector<Word>& table = tables.tables[static_cast<std::size_t>(row)];
            for (Index r = 0; r < size; ++r) {
              const Word place = (c.data()[k] - static_cast<Word>(r)) & static_cast<Word>(size - 1);
              sums(row, k) += one_hot(k, r) * table[place];
            }
          }
        }
      });
  return sums;
}

}  // namespace

mpc::ArithShare LookUpByLowBits(mpc::Context& party, const SmallTables& tables, const mpc::ArithShare& x) {
  RequireWellFormed(tables);
  const Index count = x.rows() * x.cols();
  MaskedOpening opening(party);
  const RingMatrix mask = opening.DrawMask(x.rows(), x.cols());
  MaskedOpening::Part part = opening.BeginOpen(x, 0, mask, tables.bits);
  const RingMatrix one_hot =
      opening.Deal(count, SizeOf(tables),
                   [rows = x.rows(), cols = x.cols(), size = SizeOf(tables)](const mpc::Dealer& dealer) {
                     return OneHot(dealer.Mask(rows, cols), size);
                   });
  const RingMatrix c = opening.FinishOpen(std::move(part));
  RingMatrix half;
  if (!opening.dealer()) half = Rotated(party.pool(), tables, one_hot, c);
  return opening.Reshare(std::move(half), static_cast<Index>(tables.tables.size()), count);
}

mpc::Cost LookUpByLowBitsCost(const SmallTables& tables, Index count) {
  RequireWellFormed(tables);
  const std::uint64_t word = 8 * static_cast<std::uint64_t>(count);
  const mpc::Cost dealt = mpc::Cost::Offline({{2, 1, word * static_cast<std::uint64_t>(SizeOf(tables))}});
  return Then(Then(dealt, PairExchangeCost(mpc::PackedBytes(tables.bits, count))),
              PairExchangeCost(word * tables.tables.size()))
      .WithTurn();
}

}  // namespace trefoil::protocols
