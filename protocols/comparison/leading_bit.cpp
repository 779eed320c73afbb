#include "protocols/comparison/leading_bit.h"

#include <algorithm>

#include "base/error.h"
#include "protocols/comparison/bit_conversion.h"
#include "protocols/functions/piecewise_polynomial.h"

namespace trefoil::protocols {
namespace {

using mpc::ArithShare;
using mpc::Index;
using mpc::RingMatrix;
using mpc::Word;

/// Bits below 2^(lowest + K).
int Bits(const LeadingBitTables& tables) {
  return tables.lowest + static_cast<int>(tables.tables.front().size());
}

void RequireWellFormed(const LeadingBitTables& tables) {
  Require(!tables.tables.empty() && tables.tables.front().size() >= 2 &&
              std::all_of(tables.tables.begin(), tables.tables.end(),
                          [&](const auto& table) { return table.size() == tables.tables.front().size(); }),
          "LeadingBitTables: tables of the same size, at least two entries");
  Require(tables.lowest >= 0 && Bits(tables) <= 63, "LeadingBitTables: leading bits 0 to 62");
}

/// first + sum over t > 0 of c_t (entry t - entry t-1) for c_t = [L >= lowest + t], of a part of the c_t
/// (linear, so it may be a component); the first entries are left out.
RingMatrix StepsUp(const LeadingBitTables& tables, const RingMatrix& c) {
  RingMatrix rows = RingMatrix::Zero(static_cast<Index>(tables.tables.size()), c.cols());
  for (std::size_t k = 0; k < tables.tables.size(); ++k) {
    const std::vector<Word>& table = tables.tables[k];
    for (std::size_t t = 1; t < table.size(); ++t)
      rows.row(static_cast<Index>(k)) += c.row(static_cast<Index>(t - 1)) * (table[t] - table[t - 1]);
  }
  return rows;
}

/// Low bits that a comparison with 2^bit leaves unread. Every number of them costs a key a word: hence steps.
int UnreadBelowPower(int bit) {
  constexpr int kStep = 4;
  return std::max(0, bit - kReadBelowPower) / kStep * kStep;
}

/// The same by comparing with the powers of two.
PiecewisePolynomial ByPowersOfTwo(const LeadingBitTables& tables, Rounding rounding) {
  PiecewisePolynomial f;
  for (std::size_t t = 0; t < tables.tables.front().size(); ++t) {
    if (t > 0) {
      const int bit = tables.lowest + static_cast<int>(t);
      f.thresholds.push_back(std::int64_t{1} << bit);
      if (rounding == Rounding::kStochastic) f.blur.unread.push_back(UnreadBelowPower(bit));
    }
    std::vector<std::int64_t> entries;
    for (const auto& table : tables.tables) entries.push_back(static_cast<std::int64_t>(table[t]));
    f.coefficients.push_back(std::move(entries));
  }
  f.width = Bits(tables) + 1;
  return f;
}

}  // namespace

ArithShare LookUpByLeadingBit(mpc::Context& party, const LeadingBitTables& tables, const ArithShare& x,
                              Form form, Rounding rounding) {
  RequireWellFormed(tables);
  const Index count = x.rows() * x.cols();
  const ArithShare row = Reshaped(x, 1, count);
  if (form == Form::kLatency) return LookUp(party, ByPowersOfTwo(tables, rounding), row, form);
  const int bits = Bits(tables);
  const mpc::BoolShare above =
      Planes(BitDecompose(party, row, bits), tables.lowest + 1, bits - tables.lowest - 1);
  const ArithShare c = BitToArith(party, SuffixOr(party, above));
  RingMatrix first(static_cast<Index>(tables.tables.size()), count);
  for (std::size_t k = 0; k < tables.tables.size(); ++k)
    first.row(static_cast<Index>(k)).setConstant(tables.tables[k].front());
  return AddPublic(party, {StepsUp(tables, c.own()), StepsUp(tables, c.next())}, first);
}

mpc::Cost LookUpByLeadingBitCost(const LeadingBitTables& tables, Index count, Form form, Rounding rounding) {
  if (form == Form::kLatency) return LookUpCost(ByPowersOfTwo(tables, rounding), count, form);
  const int bits = Bits(tables);
  const Index planes = bits - tables.lowest - 1;
  return Then(Then(BitDecomposeCost(count, bits), SuffixOrCost(planes, count)),
              BitToArithCost(planes, count));
}

}  // namespace trefoil::protocols
