#include "ml/ranks/rank_sums.h"

#include <span>

#include "base/error.h"
#include "ml/ranks/memory.h"

namespace trefoil::ml {

using mpc::Index;
using mpc::RingMatrix;

Index SliceOf(Index numbers, int ranks) { return (numbers + ranks - 1) / ranks; }

RingMatrix SliceOfSum(const RingMatrix& own, mpc::Ranks& ranks) {
  RingMatrix slice(SliceOf(own.rows(), ranks.count()), 1);
  RingMatrix all = RingMatrix::Zero(ranks.count() * slice.rows(), 1);
  all.topRows(own.rows()) = own;
  ranks.SumAndScatter(Elements(all), Elements(slice));
  return slice;
}

std::optional<RingMatrix> JoinSlices(const RingMatrix& slice, Index numbers, mpc::Ranks& ranks) {
  Require(slice.rows() == SliceOf(numbers, ranks.count()), "JoinSlices: a slice of so many numbers");
  const bool first = ranks.rank() == 0;
  RingMatrix all(first ? ranks.count() * slice.rows() : 0, 1);
  ranks.Gather(std::as_bytes(Elements(slice)), Memory(all));
  if (!first) return std::nullopt;
  return RingMatrix(all.topRows(numbers));
}

}  // namespace trefoil::ml
