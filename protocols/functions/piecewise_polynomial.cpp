#include "protocols/functions/piecewise_polynomial.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "protocols/arithmetic/multiply.h"
#include "protocols/arithmetic/truncate.h"
#include "protocols/comparison/bit_conversion.h"
#include "protocols/comparison/threshold_comparison.h"

namespace trefoil::protocols {
namespace {

using mpc::ArithShare;
using mpc::Index;
using mpc::RingMatrix;
using mpc::Word;

void RequireWellFormed(const PiecewisePolynomial& f) {
  Require(!f.thresholds.empty() && std::is_sorted(f.thresholds.begin(), f.thresholds.end()),
          "PiecewisePolynomial: ascending thresholds, at least one");
  Require(f.coefficients.size() == f.thresholds.size() + 1,
          "PiecewisePolynomial: one piece more than thresholds");
  const std::size_t terms = f.coefficients.front().size();
  Require(terms >= 1 && std::all_of(f.coefficients.begin(), f.coefficients.end(),
                                    [terms](const auto& piece) { return piece.size() == terms; }),
          "PiecewisePolynomial: pieces of the same degree");
  Require(f.origins.empty() || f.origins.size() == f.coefficients.size(),
          "PiecewisePolynomial: an origin for each piece, or none");
}

/// With the origins as one more coefficient, to be looked up beside the others.
PiecewisePolynomial WithOriginTerm(PiecewisePolynomial f) {
  RequireWellFormed(f);
  for (std::size_t k = 0; k < f.origins.size(); ++k) f.coefficients[k].push_back(f.origins[k]);
  return f;
}

/// Of what was looked up, the coefficients first, then the origin if there is one.
ArithShare Horner(mpc::Context& party, const PiecewisePolynomial& f, const ArithShare& x,
                  const ArithShare& looked_up) {
  const auto row = [&](Index term) { return Reshaped(Rows(looked_up, term, 1), x.rows(), x.cols()); };
  Index term = static_cast<Index>(f.coefficients.front().size()) - 1;
  const ArithShare distance = f.origins.empty() ? x : x - row(term + 1);
  ArithShare y = row(term);
  if (term == 0) return y;
  for (--term; term > 0; --term) {
    y = MultiplyTruncate(party, y, distance, f.input_bits, Range::kSigned, f.rounding) + row(term);
  }
  const ArithShare constant = (Word{1} << f.input_bits) * row(0);
  return Truncate(party, LocalProduct(party, y, distance) + ToAdditive(constant), f.last_shift,
                  Range::kSigned, f.rounding);
}

mpc::Cost HornerCost(const PiecewisePolynomial& f, Index count) {
  mpc::Cost cost;
  for (std::size_t term = f.coefficients.front().size() - 1; term > 0; --term) {
    cost = Then(cost, TruncateProductCost(count, term > 1 ? f.input_bits : f.last_shift, f.rounding));
  }
  return cost;
}

/// Row k: [x < thresholds[k]] as 0 or 1, a column an element.
ArithShare BelowByCarryTree(mpc::Context& party, const PiecewisePolynomial& f, const ArithShare& x) {
  const auto rows = static_cast<Index>(f.thresholds.size());
  const Index count = x.rows() * x.cols();
  const ArithShare row = Reshaped(x, 1, count);
  const ArithShare copies{row.own().replicate(rows, 1), row.next().replicate(rows, 1)};
  RingMatrix minus_thresholds(rows, count);
  for (Index k = 0; k < rows; ++k) {
    minus_thresholds.row(k).setConstant(Word{0} -
                                        static_cast<Word>(f.thresholds[static_cast<std::size_t>(k)]));
  }
  const mpc::BoolShare below = LessThanZero(party, AddPublic(party, copies, minus_thresholds), f.width);
  return Reshaped(BitToArith(party, below), rows, count);
}

/// Coefficient number `term` of the last piece, corrected at each threshold that the element is below: the
/// public table applied to a part of the bits (linear, so it may be a component or a half); the last piece
/// itself is left out.
RingMatrix Correction(const PiecewisePolynomial& f, const RingMatrix& below, std::size_t term) {
  RingMatrix sum = RingMatrix::Zero(1, below.cols());
  for (std::size_t k = 0; k < f.thresholds.size(); ++k) {
    const Word step =
        static_cast<Word>(f.coefficients[k][term]) - static_cast<Word>(f.coefficients[k + 1][term]);
    sum += below.row(static_cast<Index>(k)) * step;
  }
  return sum;
}

RingMatrix Corrections(const PiecewisePolynomial& f, const RingMatrix& below) {
  RingMatrix rows;
  for (std::size_t term = 0; term < f.coefficients.front().size(); ++term) {
    rows = mpc::Stacked(rows, Correction(f, below, term));
  }
  return rows;
}

ArithShare PlusLastPiece(mpc::Context& party, const PiecewisePolynomial& f, const ArithShare& corrections) {
  RingMatrix last(corrections.rows(), corrections.cols());
  for (Index term = 0; term < last.rows(); ++term) {
    last.row(term).setConstant(static_cast<Word>(f.coefficients.back()[static_cast<std::size_t>(term)]));
  }
  return AddPublic(party, corrections, last);
}

/// In latency form. The table is applied to the 2-of-2 bits, so that only the coefficients are re-shared.
template <typename Share>
ArithShare LookUpByKeys(mpc::Context& party, const PiecewisePolynomial& f, const Share& x) {
  RequireWellFormed(f);
  MaskedOpening opening(party);
  const RingMatrix below = BelowThresholdsPair(party, opening, x, f.thresholds, f.width, f.blur);
  const auto terms = static_cast<Index>(f.coefficients.front().size());
  return PlusLastPiece(
      party, f,
      opening.Reshare(opening.dealer() ? RingMatrix() : Corrections(f, below), terms, x.rows() * x.cols()));
}

mpc::Cost KeysLookUpCost(const PiecewisePolynomial& f, Index count, const mpc::Cost& comparison) {
  const auto coefficient_words = 8 * static_cast<std::uint64_t>(count) * f.coefficients.front().size();
  return Then(comparison, PairExchangeCost(coefficient_words)).WithTurn();
}

}  // namespace

PiecewisePolynomial WithFirstTerm(PiecewisePolynomial f) {
  f = WithOriginTerm(std::move(f));
  for (std::size_t k = 0; k < f.coefficients.size(); ++k) f.coefficients[k].push_back(k == 0 ? 1 : 0);
  return f;
}

ArithShare LookUp(mpc::Context& party, const PiecewisePolynomial& f, const ArithShare& x, Form form) {
  if (form == Form::kLatency) return LookUpByKeys(party, f, x);
  RequireWellFormed(f);
  Require(f.blur.dropped == 0 && f.blur.unread.empty(), "LookUp: bits are left out in latency form only");
  const ArithShare below = BelowByCarryTree(party, f, x);
  return PlusLastPiece(party, f, {Corrections(f, below.own()), Corrections(f, below.next())});
}

mpc::Cost LookUpCost(const PiecewisePolynomial& f, Index count, Form form) {
  if (form == Form::kBulk) {
    const Index compared = count * static_cast<Index>(f.thresholds.size());
    return Then(MsbCost(compared, f.width), BitToArithCost(1, compared));
  }
  return KeysLookUpCost(f, count, BelowThresholdsPairCost(count, f.width, f.blur));
}

ArithShare LookUp(mpc::Context& party, const PiecewisePolynomial& f, const mpc::AdditiveShare& x) {
  return LookUpByKeys(party, f, x);
}

mpc::Cost LookUpOfSumCost(const PiecewisePolynomial& f, Index count) {
  return KeysLookUpCost(f, count, BelowThresholdsPairOfSumCost(count, f.width, f.blur));
}

ArithShare Evaluate(mpc::Context& party, const PiecewisePolynomial& f, const ArithShare& x, Form form) {
  return Horner(party, f, x, LookUp(party, WithOriginTerm(f), x, form));
}

mpc::Cost EvaluateCost(const PiecewisePolynomial& f, Index count, Form form) {
  return Then(LookUpCost(WithOriginTerm(f), count, form), HornerCost(f, count));
}

ValuesAndFirst EvaluateAndFirst(mpc::Context& party, const PiecewisePolynomial& f, const ArithShare& x) {
  const ArithShare looked_up = LookUp(party, WithFirstTerm(f), x, Form::kBulk);
  const ArithShare last = Rows(looked_up, looked_up.rows() - 1, 1);
  return {.values = Horner(party, f, x, looked_up), .in_first = Reshaped(last, x.rows(), x.cols())};
}

mpc::Cost EvaluateAndFirstCost(const PiecewisePolynomial& f, Index count) {
  return Then(LookUpCost(WithFirstTerm(f), count, Form::kBulk), HornerCost(f, count));
}

}  // namespace trefoil::protocols
