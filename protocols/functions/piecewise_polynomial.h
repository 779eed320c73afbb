#pragma once
#include <cstdint>
#include <vector>

#include "mpc/cost.h"
#include "mpc/share.h"
#include "protocols/arithmetic/rounding.h"
#include "protocols/comparison/threshold_comparison.h"
#include "protocols/form.h"

namespace trefoil::protocols {

/// A function of ring elements that is a polynomial between thresholds: piece k covers thresholds[k-1] <= x <
/// thresholds[k]. Evaluated by Horner's rule in integers: y = a_d; y = trunc(y x, input_bits) + a_j for the
/// inner coefficients; and last y = trunc(y x + a_0 2^input_bits, last_shift), all coefficients at one scale.
struct PiecewisePolynomial {
  std::vector<std::int64_t> thresholds;                 ///< ascending, K - 1 of them
  std::vector<std::vector<std::int64_t>> coefficients;  ///< K lists a_0 ... a_d of the same length d + 1 >= 1
  int input_bits = 0;                                   ///< fraction bits of x
  int last_shift = 0;                                   ///< coefficient bits + input_bits - output bits
  int width = 64;                                       ///< |x - threshold| < 2^(width - 1)
  Rounding rounding = Rounding::kStochastic;            ///< of every truncation
  /// One of each piece, or none: a piece's polynomial is one of x - origin, not of x, so that coefficients
  /// and powers stay small far from zero. Where all but a_0 are 0, x may be any distance from the origin.
  std::vector<std::int64_t> origins{};
  /// Low bits that thresholds leave out, in latency form only (`width` is then of what is compared): then
  /// either of two pieces may be taken for an element next to their threshold. Dropped only of a 3-of-3
  /// sharing.
  Blur blur{};
};

/// The coefficients (not the origin) of the piece that each element lies in: a row for each a_j, a column an
/// element (row by row). Cost: bulk: MsbCost and BitToArithCost of all comparisons, 9 rounds at 64 bits;
/// latency: 2 rounds.
[[nodiscard]] mpc::ArithShare LookUp(mpc::Context& party, const PiecewisePolynomial& table,
                                     const mpc::ArithShare& x, Form form = Form::kBulk);
[[nodiscard]] mpc::Cost LookUpCost(const PiecewisePolynomial& table, mpc::Index count,
                                   Form form = Form::kBulk);
/// The same of a 3-of-3 sharing, in latency form: a local product's, which so need not be re-shared before.
/// Cost: 2 rounds.
[[nodiscard]] mpc::ArithShare LookUp(mpc::Context& party, const PiecewisePolynomial& table,
                                     const mpc::AdditiveShare& x);
[[nodiscard]] mpc::Cost LookUpOfSumCost(const PiecewisePolynomial& table, mpc::Index count);

/// Evaluates the piece that each element lies in: comparisons with all thresholds side by side, coefficients
/// by inner product with the (public) table, then Horner. Constant pieces (d = 0) are the result as they are.
/// Pre:    every product and sum stays below 2^62 in absolute value for every x that occurs.
/// Cost:   bulk: 11 rounds for K linear pieces, 17.5 K + 8 words an element at most; latency: 2 + 2 d rounds.
///         With exact rounding the keys of d truncations more, offline.
/// Throws: ContractError on a malformed table.
[[nodiscard]] mpc::ArithShare Evaluate(mpc::Context& party, const PiecewisePolynomial& function,
                                       const mpc::ArithShare& x, Form form = Form::kBulk);
[[nodiscard]] mpc::Cost EvaluateCost(const PiecewisePolynomial& function, mpc::Index count,
                                     Form form = Form::kBulk);

/// What each element's piece gives, and whether the element lies in the first piece, as 0 or 1, of the shape
/// of x.
struct ValuesAndFirst {
  mpc::ArithShare values;
  mpc::ArithShare in_first;
};

/// Evaluate in bulk form, by the same comparisons: `in_first` is 1 exactly where the first piece was
/// evaluated. Pre, cost, throws: as Evaluate.
[[nodiscard]] ValuesAndFirst EvaluateAndFirst(mpc::Context& party, const PiecewisePolynomial& function,
                                              const mpc::ArithShare& x);
[[nodiscard]] mpc::Cost EvaluateAndFirstCost(const PiecewisePolynomial& function, mpc::Index count);

/// With 1 for the first piece and 0 for the others behind the coefficients, and behind the origin if there is
/// one.
[[nodiscard]] PiecewisePolynomial WithFirstTerm(PiecewisePolynomial function);

}  // namespace trefoil::protocols
