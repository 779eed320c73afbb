#include "ml/on_shares/column_squares.h"

#include <array>

#include "protocols/arithmetic/input.h"
#include "protocols/arithmetic/multiply.h"

namespace trefoil::ml {
namespace {

std::array<protocols::Shape, 3> PartShapes(const SquaresShape& shape, const SquaresColumns& columns,
                                           mpc::Index height) {
  return {{{.rows = height, .cols = columns.width(shape, 0)},
           {.rows = height, .cols = columns.width(shape, 1)},
           {.rows = height, .cols = columns.width(shape, 2)}}};
}

}  // namespace

mpc::AdditiveShare SumOfColumnSquares(mpc::Context& party, const SquaresShape& shape,
                                      const SquaresColumns& columns, const mpc::RingMatrix& own,
                                      mpc::Index height) {
  const auto parts = protocols::InputEach(party, own, PartShapes(shape, columns, height));
  // The constant and the targets stand behind the columns of whoever holds them; in a row they come last.
  const auto& last = parts.at(static_cast<std::size_t>(columns.target_party));
  const auto last_first = columns.features.at(static_cast<std::size_t>(columns.target_party));
  mpc::ArithShare rows = Columns(parts[0], 0, columns.features[0]);
  for (std::size_t j = 1; j < parts.size(); ++j)
    rows = SideBySide(rows, Columns(parts.at(j), 0, columns.features.at(j)));
  rows = SideBySide(rows, Columns(last, last_first, 1 + shape.outputs));
  const auto products = protocols::LocalTransposedProduct(party, Columns(rows, 0, shape.entries()), rows);
  return mpc::AdditiveShare(SumOfProducts(shape, products.part()));  // linear, by public factors
}

mpc::Cost SumOfColumnSquaresCost(const SquaresShape& shape, const SquaresColumns& columns,
                                 mpc::Index height) {
  return protocols::InputEachCost(PartShapes(shape, columns, height));
}

}  // namespace trefoil::ml
