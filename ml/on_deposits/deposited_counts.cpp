#include "ml/on_deposits/deposited_counts.h"

#include "base/error.h"

namespace trefoil::ml {

using mpc::ArithShare;
using mpc::Index;

ArithShare CountsOfDeposited(Index features, Index classes, const std::vector<ArithShare>& deposited) {
  Require(features >= 1 && classes >= 2, "CountsOfDeposited: features, and two classes at least");
  const Index words = classes == 2 ? 1 : classes;
  ArithShare sums = ArithShare::Zero(1 + words, 1);  // of the mask bits and of each word of the labels
  for (const ArithShare& rows : deposited) {
    Require(rows.cols() == features + 1 + words, "CountsOfDeposited: features, a mask bit and a label");
    sums = sums + RowSums(Transposed(Columns(rows, features, 1 + words)));
  }
  const ArithShare labels = Rows(sums, 1, words);
  if (classes > 2) return labels;
  return Stacked(Rows(sums, 0, 1) - labels, labels);  // one word says whether a record is of class 1
}

}  // namespace trefoil::ml
