#include "protocols/piecewise_polynomial.h"

#include <algorithm>

#include "base/error.h"
#include "protocols/bit_conversion.h"
#include "protocols/multiply.h"
#include "protocols/truncate.h"

namespace trefoil::protocols {
namespace {

using mpc::ArithShare;
using mpc::Index;
using mpc::RingMatrix;
using mpc::Word;

void RequireWellFormed(const PiecewisePolynomial& f) {
  Require(!f.thresholds.empty() && std::is_sorted(f.thresholds.begin(), f.thresholds.end()),
          "PiecewisePolynomial: ascending thresholds, at least one");
  Require(f.coefficients.size() == f.thresholds.size() + 1, "PiecewisePolynomial: one piece more than thresholds");
  const std::size_t terms = f.coefficients.front().size();
  Require(terms >= 2 && std::all_of(f.coefficients.begin(), f.coefficients.end(),
                                    [terms](const auto& piece) { return piece.size() == terms; }),
          "PiecewisePolynomial: pieces of the same degree, at least 1");
}

/// Row k: [x < thresholds[k]] as 0 or 1, a column an element.
ArithShare BelowThresholds(mpc::Context& party, const PiecewisePolynomial& f, const ArithShare& x) {
  const auto rows = static_cast<Index>(f.thresholds.size());
  const Index count = x.rows() * x.cols();
  const ArithShare row = Reshaped(x, 1, count);
  const ArithShare copies{row.own().replicate(rows, 1), row.next().replicate(rows, 1)};
  RingMatrix minus_thresholds(rows, count);
  for (Index k = 0; k < rows; ++k) {
    minus_thresholds.row(k).setConstant(Word{0} - static_cast<Word>(f.thresholds[static_cast<std::size_t>(k)]));
  }
  const mpc::BoolShare below = LessThanZero(party, AddPublic(party, copies, minus_thresholds), f.width);
  return Reshaped(BitToArith(party, below), rows, count);
}

/// Coefficient number `term` of the piece that each element lies in: that of the last piece, corrected at each threshold that
/// the element is below.
ArithShare Coefficient(mpc::Context& party, const PiecewisePolynomial& f, const ArithShare& below, std::size_t term,
                       Index rows, Index cols) {
  RingMatrix own = RingMatrix::Zero(1, below.cols());
  RingMatrix next = own;
  for (std::size_t k = 0; k < f.thresholds.size(); ++k) {
    const Word step = static_cast<Word>(f.coefficients[k][term]) - static_cast<Word>(f.coefficients[k + 1][term]);
    own += below.own().row(static_cast<Index>(k)) * step;
    next += below.next().row(static_cast<Index>(k)) * step;
  }
  const ArithShare correction{std::move(own), std::move(next)};
  return Reshaped(AddPublic(party, correction, static_cast<Word>(f.coefficients.back()[term])), rows, cols);
}

}  // namespace

ArithShare Evaluate(mpc::Context& party, const PiecewisePolynomial& f, const ArithShare& x) {
  RequireWellFormed(f);
  const ArithShare below = BelowThresholds(party, f, x);
  const auto coefficient = [&](std::size_t term) { return Coefficient(party, f, below, term, x.rows(), x.cols()); };
  std::size_t term = f.coefficients.front().size() - 1;
  ArithShare y = coefficient(term);
  for (--term; term > 0; --term) y = MultiplyTruncate(party, y, x, f.input_bits) + coefficient(term);
  const ArithShare constant = (Word{1} << f.input_bits) * coefficient(0);
  return Truncate(party, LocalProduct(y, x) + ToAdditive(constant), f.last_shift);
}

mpc::Cost EvaluateCost(const PiecewisePolynomial& f, Index count) {
  const Index compared = count * static_cast<Index>(f.thresholds.size());
  mpc::Cost cost = Then(MsbCost(compared, f.width), BitToArithCost(1, compared));
  for (std::size_t term = 1; term < f.coefficients.front().size(); ++term) cost = Then(cost, TruncateProductCost(count));
  return cost;
}

}  // namespace trefoil::protocols
