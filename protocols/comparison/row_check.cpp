#include "protocols/comparison/row_check.h"

#include <utility>

#include "base/error.h"
#include "protocols/arithmetic/multiply.h"
#include "protocols/comparison/bit_conversion.h"
#include "protocols/comparison/bit_tree.h"
#include "protocols/cost_model.h"

namespace trefoil::protocols {
namespace {

using mpc::ArithShare;
using mpc::BitMatrix;
using mpc::BoolShare;
using mpc::Index;
using mpc::RingMatrix;
using mpc::Word;

void RequireInRange(const RowBounds& bounds) {
  constexpr Word kLimit = Word{1} << 62;
  Require(bounds.features >= 1 && bounds.label_words >= 1, "FaultyRows: a feature and a word of the label");
  Require(bounds.largest_squared_norm < kLimit && bounds.largest_label >= 1 && bounds.largest_label < kLimit,
          "FaultyRows: bounds below 2^62, and a largest label");
  Require(bounds.label_words == 1 || bounds.largest_label == 1,
          "FaultyRows: a largest label of 1, for more than one word");
}

/// How many numbers of a row must not be negative.
Index NumbersOf(const RowBounds& bounds) {
  return 3 + 2 * bounds.label_words + (bounds.label_words > 1 ? 2 : 0);
}

/// Rows and padding behind them, so that bits of a column begin with a word.
Index PaddedToWords(Index rows) { return (rows + 63) / 64 * 64; }

/// Numbers of each row, side by side, none of which is negative if and only if the row is as the bounds say.
ArithShare NumbersToBeSeen(mpc::Context& party, const RowBounds& bounds, const ArithShare& rows) {
  const ArithShare features = Columns(rows, 0, bounds.features);
  const ArithShare mask = Columns(rows, bounds.features, 1);
  const ArithShare labels = Columns(rows, bounds.features + 1, bounds.label_words);
  const ArithShare norms = Reshare(party, LocalRowInnerProducts(party, features, features));
  const ArithShare of_mask = SideBySide(mask, AddPublic(party, -mask, Word{1}));
  const ArithShare of_labels =
      SideBySide(labels, RepeatedColumn(bounds.largest_label * mask, bounds.label_words) - labels);
  const ArithShare numbers =
      SideBySide(SideBySide(of_mask, of_labels), bounds.largest_squared_norm * mask - norms);
  if (bounds.label_words == 1) return numbers;
  const ArithShare rest = mask - RowSums(labels);
  return SideBySide(numbers, SideBySide(rest, -rest));
}

/// A number of each row in a row, behind them zeros.
ArithShare PaddedColumns(const ArithShare& numbers) {
  const auto padded = [](const RingMatrix& component) {
    RingMatrix out = RingMatrix::Zero(component.cols(), PaddedToWords(component.rows()));
    out.leftCols(component.rows()) = component.transpose();
    return out;
  };
  return {padded(numbers.own()), padded(numbers.next())};
}

/// One plane as several, one after the other. Pre: whole words of each.
BitMatrix InPlanes(const BitMatrix& plane, Index planes) {
  BitMatrix out = BitMatrix::ToBeWritten(planes, plane.count() / planes);
  out.words() = mpc::Reshaped(plane.words(), planes, out.words_per_plane());
  return out;
}

BitMatrix FirstItems(const BitMatrix& bits, Index count) {
  BitMatrix out(bits.planes(), count);
  out.words() = bits.words().leftCols(out.words_per_plane());
  out.ClearTail();
  return out;
}

}  // namespace

BoolShare FaultyRows(mpc::Context& party, const RowBounds& bounds, const ArithShare& rows) {
  RequireInRange(bounds);
  Require(rows.cols() == bounds.features + 1 + bounds.label_words,
          "FaultyRows: features, a mask bit and a label");
  const Index numbers = NumbersOf(bounds);
  const BoolShare negative = Msb(party, PaddedColumns(NumbersToBeSeen(party, bounds, rows)));
  const BoolShare faulty =
      AnyPlane(party, {InPlanes(negative.own(), numbers), InPlanes(negative.next(), numbers)});
  return {FirstItems(faulty.own(), rows.rows()), FirstItems(faulty.next(), rows.rows())};
}

mpc::Cost FaultyRowsCost(const RowBounds& bounds, Index rows) {
  RequireInRange(bounds);
  const Index numbers = NumbersOf(bounds);
  const Index padded = PaddedToWords(rows);
  return Then(Then(ReshareCost(rows), MsbCost(numbers * padded)), AnyPlaneCost(numbers, padded));
}

double FaultyRowsSeconds(const RowBounds& bounds, Index rows) {
  RequireInRange(bounds);
  return ComparisonSeconds(Form::kBulk, NumbersOf(bounds) * PaddedToWords(rows), 1, 64);
}

}  // namespace trefoil::protocols
