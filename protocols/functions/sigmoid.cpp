#include "protocols/functions/sigmoid.h"

#include "base/error.h"
#include "protocols/arithmetic/masked_opening.h"
#include "protocols/arithmetic/truncate.h"
#include "protocols/functions/sin_cos.h"

namespace trefoil::protocols {
namespace {

using mpc::Index;
using mpc::RingMatrix;
using mpc::Word;

constexpr int kSinCosBits = 30;
constexpr int kSeriesBits = 28;  // scale of the coefficients, of the dealt values and of the public factors
constexpr int kSumBits = 2 * kSeriesBits;  // scale of the 2-of-2 result

const std::vector<SigmoidSeries>& AllSeries() {
  static const std::vector<SigmoidSeries> kSeries = {
#include "protocols/functions/sigmoid_series.inc"
  };
  return kSeries;
}

Word ToSeriesScale(std::int64_t at_sin_cos_scale) {
  constexpr int kShift = kSinCosBits - kSeriesBits;
  return static_cast<Word>((at_sin_cos_scale + (1 << (kShift - 1))) >> kShift);
}

/// What the dealer deals: for each term cos and sin of (2j + 1) r, a row each, a column an element.
RingMatrix TermsOfMask(ThreadPool& pool, const RingMatrix& mask, int turn_shift, std::size_t terms) {
  RingMatrix dealt(static_cast<Index>(2 * terms), mask.size());
  pool.ParallelFor(static_cast<std::size_t>(mask.size()), 256, [&](std::size_t begin, std::size_t end) {
    for (std::size_t k = begin; k < end; ++k) {
      const auto item = static_cast<Index>(k);
      const Word turn = mask.data()[item] << turn_shift;
      for (std::size_t j = 0; j < terms; ++j) {
        const SinCos term = SinCosOfTurn(static_cast<Word>(2 * j + 1) * turn);
        dealt(static_cast<Index>(2 * j), item) = ToSeriesScale(term.cos);
        dealt(static_cast<Index>(2 * j + 1), item) = ToSeriesScale(term.sin);
      }
    }
  });
  return dealt;
}

/// sum_j b_j sin((2j + 1)(c - r)) with sin(k (c - r)) = sin(kc) cos(kr) - cos(kc) sin(kr): linear in what was
/// dealt.
RingMatrix SumOfTerms(ThreadPool& pool, const RingMatrix& c, const RingMatrix& dealt, int turn_shift,
                      const std::vector<std::int64_t>& coefficients) {
  RingMatrix sum = RingMatrix::Zero(c.rows(), c.cols());
  pool.ParallelFor(static_cast<std::size_t>(c.size()), 256, [&](std::size_t begin, std::size_t end) {
    for (std::size_t k = begin; k < end; ++k) {
      const auto item = static_cast<Index>(k);
      const Word turn = c.data()[item] << turn_shift;
      for (std::size_t j = 0; j < coefficients.size(); ++j) {
        const SinCos term = SinCosOfTurn(static_cast<Word>(2 * j + 1) * turn);
        const auto sin = static_cast<Word>((term.sin * coefficients[j]) >> kSinCosBits);
        const auto cos = static_cast<Word>((term.cos * coefficients[j]) >> kSinCosBits);
        sum.data()[item] +=
            sin * dealt(static_cast<Index>(2 * j), item) - cos * dealt(static_cast<Index>(2 * j + 1), item);
      }
    }
  });
  return sum;
}

template <typename Share>
mpc::FixedShare Evaluate(mpc::Context& party, const Share& x, int x_bits, int frac_bits,
                         const SigmoidSeries& series, Rounding rounding) {
  const int opened_bits = series.log2_period + x_bits;
  Require(opened_bits <= 64, "Sigmoid: period and scale exceed 64 bits");
  Require(frac_bits >= 1 && frac_bits < kSumBits, "Sigmoid: 1 to 55 fraction bits");
  const int turn_shift = 64 - opened_bits;
  const std::size_t terms = series.coefficients.size();
  MaskedOpening opening(party);
  const RingMatrix mask = opening.DrawMask(x.rows(), x.cols());
  MaskedOpening::Part part = opening.BeginOpen(x, 0, mask, opened_bits);
  const RingMatrix dealt =
      opening.Deal(static_cast<Index>(2 * terms), x.rows() * x.cols(),
                   [rows = x.rows(), cols = x.cols(), turn_shift, terms](const mpc::Dealer& dealer) {
                     return TermsOfMask(dealer.pool(), dealer.Mask(rows, cols), turn_shift, terms);
                   });
  const RingMatrix c = opening.FinishOpen(std::move(part));
  RingMatrix half;
  if (!opening.dealer()) half = SumOfTerms(party.pool(), c, dealt, turn_shift, series.coefficients);
  const mpc::ArithShare centred =
      TruncatePair(opening, half, x.rows(), x.cols(), kSumBits - frac_bits, rounding);
  return {AddPublic(party, centred, Word{1} << (frac_bits - 1)), frac_bits};
}

/// Dealing and the truncation, which takes the only turn, are the same in both forms.
mpc::Cost CostWithOpening(Index count, int frac_bits, const SigmoidSeries& series, Rounding rounding,
                          const mpc::Cost& opening) {
  const std::uint64_t dealt = 16 * static_cast<std::uint64_t>(count) * series.coefficients.size();
  return Then(Then(mpc::Cost::Offline({{2, 1, dealt}}), opening),
              TruncateCost(count, kSumBits - frac_bits, rounding));
}

}  // namespace

const SigmoidSeries& SigmoidSeriesFor(double logit_bound) {
  Require(logit_bound > 0, "SigmoidSeriesFor: a positive bound");
  for (const SigmoidSeries& series : AllSeries()) {
    if (logit_bound <= static_cast<double>(1 << series.log2_period) / 4) return series;
  }
  throw ContractError("SigmoidSeriesFor: no series reaches that far");
}

mpc::FixedShare Sigmoid(mpc::Context& party, const mpc::FixedShare& x, const SigmoidSeries& series,
                        Rounding rounding) {
  return Evaluate(party, x.ring(), x.frac_bits(), x.frac_bits(), series, rounding);
}

mpc::FixedShare SigmoidOfProduct(mpc::Context& party, const mpc::AdditiveShare& product, int product_bits,
                                 int frac_bits, const SigmoidSeries& series, Rounding rounding) {
  return Evaluate(party, product, product_bits, frac_bits, series, rounding);
}

mpc::Cost SigmoidCost(Index count, int frac_bits, const SigmoidSeries& series, Rounding rounding) {
  return CostWithOpening(count, frac_bits, series, rounding,
                         PairExchangeCost(mpc::PackedBytes(series.log2_period + frac_bits, count)));
}

mpc::Cost SigmoidOfProductCost(Index count, int product_bits, int frac_bits, const SigmoidSeries& series,
                               Rounding rounding) {
  const std::uint64_t opened = mpc::PackedBytes(series.log2_period + product_bits, count);
  return CostWithOpening(count, frac_bits, series, rounding,
                         mpc::Cost::Round({{0, 1, opened}, {1, 0, opened}, {2, 0, opened}, {2, 1, opened}}));
}

}  // namespace trefoil::protocols
