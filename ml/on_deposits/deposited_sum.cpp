#include "ml/on_deposits/deposited_sum.h"

#include <utility>

#include "base/error.h"

namespace trefoil::ml {

using mpc::AdditiveShare;
using mpc::ArithShare;
using mpc::Index;
using mpc::RingMatrix;

AdditiveShare SumOfDeposited(Index features, const std::vector<ArithShare>& deposited) {
  RingMatrix sum = RingMatrix::Zero(features, 1);
  for (const ArithShare& rows : deposited) {
    Require(rows.cols() > features, "SumOfDeposited: features, a mask bit and a label");
    sum += rows.own().leftCols(features).colwise().sum().transpose();
  }
  return AdditiveShare(std::move(sum));
}

}  // namespace trefoil::ml
