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
constexpr int kSeriesBits = 28;

/// What is dealt, the public factors and the sums of their products are words modulo 2^kWidth, at these
/// scales.
struct WholeWords {
  using Matrix = RingMatrix;
  static constexpr int kDealtBits = 28;
  static constexpr int kFactorBits = 28;
  static constexpr int kWidth = 64;
};
/// A sum is below 1 in absolute value, 2^30: all that a truncation of 32 bits takes.
struct HalfWords {
  using Matrix = mpc::HalfMatrix;
  static constexpr int kDealtBits = 13;
  static constexpr int kFactorBits = 17;
  static constexpr int kWidth = 32;
};

template <typename Words>
constexpr int kSumBits = Words::kDealtBits + Words::kFactorBits;
static_assert(kSumBits<HalfWords> == kMostBitsOfHalfWords + 1 &&
              kSumBits<HalfWords> == HalfWords::kWidth - 2);

const std::vector<SigmoidSeries>& AllSeries() {
  static const std::vector<SigmoidSeries> kSeries = {
#include "protocols/functions/sigmoid_series.inc"
  };
  return kSeries;
}

/// To the nearest multiple of 2^shift.
template <typename Element>
Element Scaled(std::int64_t value, int shift) {
  return static_cast<Element>((value + (std::int64_t{1} << (shift - 1))) >> shift);
}

/// What the dealer deals: for each term cos and sin of (2j + 1) r, a row each, a column an element.
template <typename Words>
typename Words::Matrix TermsOfMask(ThreadPool& pool, const RingMatrix& mask, int turn_shift,
                                   std::size_t terms) {
  using Element = typename Words::Matrix::Scalar;
  constexpr int kShift = kSinCosBits - Words::kDealtBits;
  typename Words::Matrix dealt(static_cast<Index>(2 * terms), mask.size());
  pool.ParallelFor(static_cast<std::size_t>(mask.size()), 256, [&](std::size_t begin, std::size_t end) {
    for (std::size_t k = begin; k < end; ++k) {
      const auto item = static_cast<Index>(k);
      const Word turn = mask.data()[item] << turn_shift;
      for (std::size_t j = 0; j < terms; ++j) {
        const SinCos term = SinCosOfTurn(static_cast<Word>(2 * j + 1) * turn);
        dealt(static_cast<Index>(2 * j), item) = Scaled<Element>(term.cos, kShift);
        dealt(static_cast<Index>(2 * j + 1), item) = Scaled<Element>(term.sin, kShift);
      }
    }
  });
  return dealt;
}

/// sum_j b_j sin((2j + 1)(c - r)) with sin(k (c - r)) = sin(kc) cos(kr) - cos(kc) sin(kr): linear in what was
/// dealt.
template <typename Words>
RingMatrix SumOfTerms(ThreadPool& pool, const RingMatrix& c, const typename Words::Matrix& dealt,
                      int turn_shift, const std::vector<std::int64_t>& coefficients) {
  using Element = typename Words::Matrix::Scalar;
  constexpr int kShift = kSinCosBits + kSeriesBits - Words::kFactorBits;
  RingMatrix sums(c.rows(), c.cols());
  pool.ParallelFor(static_cast<std::size_t>(c.size()), 256, [&](std::size_t begin, std::size_t end) {
    for (std::size_t k = begin; k < end; ++k) {
      const auto item = static_cast<Index>(k);
      const Word turn = c.data()[item] << turn_shift;
      Element sum = 0;
      for (std::size_t j = 0; j < coefficients.size(); ++j) {
        const SinCos term = SinCosOfTurn(static_cast<Word>(2 * j + 1) * turn);
        const auto sin = Scaled<Element>(term.sin * coefficients[j], kShift);
        const auto cos = Scaled<Element>(term.cos * coefficients[j], kShift);
        sum +=
            sin * dealt(static_cast<Index>(2 * j), item) - cos * dealt(static_cast<Index>(2 * j + 1), item);
      }
      sums.data()[item] = sum;
    }
  });
  return sums;
}

template <typename Words, typename Share>
mpc::FixedShare Evaluate(mpc::Context& party, const Share& x, int x_bits, int frac_bits,
                         const SigmoidSeries& series, Rounding rounding) {
  const int opened_bits = series.log2_period + x_bits;
  Require(opened_bits <= 64, "Sigmoid: period and scale exceed 64 bits");
  Require(frac_bits >= 1 && frac_bits < kSumBits<Words>,
          "Sigmoid: 1 to 55 fraction bits, 1 to 29 in half words");
  const int turn_shift = 64 - opened_bits;
  const std::size_t terms = series.coefficients.size();
  MaskedOpening opening(party);
  const RingMatrix mask = opening.DrawMask(x.rows(), x.cols());
  MaskedOpening::Part part = opening.BeginOpen(x, 0, mask, opened_bits);
  const auto deal = [rows = x.rows(), cols = x.cols(), turn_shift, terms](const mpc::Dealer& dealer) {
    return TermsOfMask<Words>(dealer.pool(), dealer.Mask(rows, cols), turn_shift, terms);
  };
  typename Words::Matrix dealt;
  if constexpr (Words::kWidth == 64) {
    dealt = opening.Deal(static_cast<Index>(2 * terms), x.rows() * x.cols(), deal);
  } else {
    dealt = opening.DealHalves(static_cast<Index>(2 * terms), x.rows() * x.cols(), deal);
  }
  const RingMatrix c = opening.FinishOpen(std::move(part));
  RingMatrix half;
  if (!opening.dealer()) half = SumOfTerms<Words>(party.pool(), c, dealt, turn_shift, series.coefficients);
  const mpc::ArithShare centred =
      TruncatePair(opening, half, x.rows(), x.cols(), kSumBits<Words> - frac_bits, rounding, Words::kWidth);
  return {AddPublic(party, centred, Word{1} << (frac_bits - 1)), frac_bits};
}

template <typename Share>
mpc::FixedShare EvaluateIn(mpc::Context& party, const Share& x, int x_bits, int frac_bits,
                           const SigmoidSeries& series, const SigmoidOptions& options) {
  if (options.words == SeriesWords::kHalf)
    return Evaluate<HalfWords>(party, x, x_bits, frac_bits, series, options.rounding);
  return Evaluate<WholeWords>(party, x, x_bits, frac_bits, series, options.rounding);
}

/// Of what is dealt and summed up in such words.
template <typename Words>
mpc::Cost CostIn(Index count, int frac_bits, const SigmoidSeries& series, Rounding rounding,
                 const mpc::Cost& opening) {
  const std::uint64_t dealt =
      Words::kWidth / 8 * 2 * static_cast<std::uint64_t>(count) * series.coefficients.size();
  return Then(Then(mpc::Cost::Offline({{2, 1, dealt}}), opening),
              TruncatePairCost(count, kSumBits<Words> - frac_bits, rounding, Words::kWidth));
}

/// Dealing and the truncation, which takes the only turn, are the same whatever is opened.
mpc::Cost CostWithOpening(Index count, int frac_bits, const SigmoidSeries& series,
                          const SigmoidOptions& options, const mpc::Cost& opening) {
  return options.words == SeriesWords::kHalf
             ? CostIn<HalfWords>(count, frac_bits, series, options.rounding, opening)
             : CostIn<WholeWords>(count, frac_bits, series, options.rounding, opening);
}

}  // namespace

const SigmoidSeries& SigmoidSeriesFor(double logit_bound) {
  Require(logit_bound > 0, "SigmoidSeriesFor: a positive bound");
  for (const SigmoidSeries& series : AllSeries()) {
    if (logit_bound <= static_cast<double>(1 << series.log2_period) / 4) return series;
  }
  throw ContractError("SigmoidSeriesFor: no series reaches that far");
}

double EvaluationError(SeriesWords words) { return words == SeriesWords::kHalf ? 3e-4 : 0x1p-20; }

mpc::FixedShare Sigmoid(mpc::Context& party, const mpc::FixedShare& x, const SigmoidSeries& series,
                        const SigmoidOptions& options) {
  return EvaluateIn(party, x.ring(), x.frac_bits(), x.frac_bits(), series, options);
}

mpc::FixedShare SigmoidOfProduct(mpc::Context& party, const mpc::AdditiveShare& product, int product_bits,
                                 int frac_bits, const SigmoidSeries& series, const SigmoidOptions& options) {
  return EvaluateIn(party, product, product_bits, frac_bits, series, options);
}

mpc::Cost SigmoidCost(Index count, int frac_bits, const SigmoidSeries& series,
                      const SigmoidOptions& options) {
  return CostWithOpening(count, frac_bits, series, options,
                         PairExchangeCost(mpc::PackedBytes(series.log2_period + frac_bits, count)));
}

mpc::Cost SigmoidOfProductCost(Index count, int product_bits, int frac_bits, const SigmoidSeries& series,
                               const SigmoidOptions& options) {
  const std::uint64_t opened = mpc::PackedBytes(series.log2_period + product_bits, count);
  return CostWithOpening(count, frac_bits, series, options, OpeningOfSumCost(opened));
}

}  // namespace trefoil::protocols
