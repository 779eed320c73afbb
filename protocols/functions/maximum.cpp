#include "protocols/functions/maximum.h"

#include <vector>

#include "base/error.h"
#include "protocols/arithmetic/multiply.h"
#include "protocols/functions/piecewise_polynomial.h"

namespace trefoil::protocols {
namespace {

using mpc::ArithShare;
using mpc::Index;
using mpc::RingMatrix;
using mpc::Word;

/// [x < 0].
PiecewisePolynomial Negative(int width) {
  return {.thresholds = {0}, .coefficients = {{1}, {0}}, .input_bits = 0, .last_shift = 0, .width = width};
}

/// `count` rows of x: first, first + 2, ...
ArithShare EveryOther(const ArithShare& x, Index first, Index count) {
  const auto rows = Eigen::seqN(first, count, Eigen::fix<2>);
  return {x.own()(rows, Eigen::all), x.next()(rows, Eigen::all)};
}

RingMatrix Interleaved(const RingMatrix& even, const RingMatrix& odd) {
  RingMatrix out(2 * even.rows(), even.cols());
  for (Index k = 0; k < even.rows(); ++k) {
    out.row(2 * k) = even.row(k);
    out.row(2 * k + 1) = odd.row(k);
  }
  return out;
}

/// A tournament between the rows of a matrix, each column for itself.
struct Tournament {
  ArithShare winners;                     ///< one row
  std::vector<ArithShare> second_better;  ///< of each level: a row for each match, 1 where its second won
};

/// Of equal ones the first of a match wins, and matches are between neighbours, so the first wins overall.
Tournament Play(mpc::Context& party, const ArithShare& x, int width, Form form) {
  Tournament result{.winners = x, .second_better = {}};
  while (result.winners.rows() > 1) {
    const ArithShare& left = result.winners;
    const Index matches = left.rows() / 2;
    const ArithShare first = EveryOther(left, 0, matches);
    const ArithShare gain = EveryOther(left, 1, matches) - first;
    const ArithShare better = Reshaped(LookUp(party, Negative(width), -gain, form), matches, left.cols());
    const ArithShare best = first + Multiply(party, better, gain);
    result.winners = left.rows() % 2 == 0 ? best : Stacked(best, Rows(left, left.rows() - 1, 1));
    result.second_better.push_back(better);
  }
  return result;
}

mpc::Cost PlayCost(Index rows, Index cols, int width, Form form) {
  mpc::Cost cost;
  for (Index left = cols; left > 1; left = (left + 1) / 2) {
    const Index count = left / 2 * rows;
    cost = Then(Then(cost, LookUpCost(Negative(width), count, form)), MultiplyCost(count));
  }
  return cost;
}

/// From who of a level's winners is the best of all to who of its players is.
ArithShare OneLevelDown(mpc::Context& party, const ArithShare& winners, const ArithShare& second_better) {
  const Index matches = second_better.rows();
  const ArithShare of_matches = Rows(winners, 0, matches);
  const ArithShare second = Multiply(party, of_matches, second_better);
  const ArithShare first = of_matches - second;
  const ArithShare players{Interleaved(first.own(), second.own()), Interleaved(first.next(), second.next())};
  return winners.rows() == matches ? players : Stacked(players, Rows(winners, matches, 1));
}

void RequireColumns(const ArithShare& x) { Require(x.cols() >= 1, "RowMaximum: at least one column"); }

}  // namespace

ArithShare RowMaximum(mpc::Context& party, const ArithShare& x, int width, Form form) {
  RequireColumns(x);
  return Reshaped(Play(party, Transposed(x), width, form).winners, x.rows(), 1);
}

mpc::Cost RowMaximumCost(Index rows, Index cols, int width, Form form) {
  return PlayCost(rows, cols, width, form);
}

ArithShare RowArgMax(mpc::Context& party, const ArithShare& x, int width, Form form) {
  RequireColumns(x);
  const std::vector<ArithShare> levels = Play(party, Transposed(x), width, form).second_better;
  const ArithShare everyone = AddPublic(party, ArithShare::Zero(1, x.rows()), Word{1});
  if (levels.empty()) return Transposed(everyone);
  ArithShare best = Stacked(everyone - levels.back(), levels.back());
  for (std::size_t level = levels.size() - 1; level-- > 0;) best = OneLevelDown(party, best, levels[level]);
  return Transposed(best);
}

mpc::Cost RowArgMaxCost(Index rows, Index cols, int width, Form form) {
  std::vector<Index> matches;
  for (Index left = cols; left > 1; left = (left + 1) / 2) matches.push_back(left / 2);
  mpc::Cost cost = PlayCost(rows, cols, width, form);
  for (std::size_t level = matches.size(); level-- > 1;)
    cost = Then(cost, MultiplyCost(matches[level - 1] * rows));
  return cost;
}

ArithShare ColumnNumbers(const ArithShare& one_hot) {
  ArithShare numbers = ArithShare::Zero(one_hot.rows(), 1);
  for (Index column = 1; column < one_hot.cols(); ++column)
    numbers = numbers + static_cast<Word>(column) * Columns(one_hot, column, 1);
  return numbers;
}

}  // namespace trefoil::protocols
