#include "mpc/plane_builder.h"

#include <utility>

#include "base/error.h"

namespace trefoil::mpc {
namespace {

BitMatrix Pick(const BitMatrix& x, const std::vector<Index>& planes) {
  BitMatrix out(static_cast<Index>(planes.size()), x.count());
  for (std::size_t k = 0; k < planes.size(); ++k)
    out.words().row(static_cast<Index>(k)) = x.words().row(planes[k]);
  return out;
}

void Put(BitMatrix& x, const std::vector<Index>& planes, const BitMatrix& values) {
  for (std::size_t k = 0; k < planes.size(); ++k)
    x.words().row(planes[k]) = values.words().row(static_cast<Index>(k));
}

}  // namespace

BoolShare PickPlanes(const BoolShare& x, const std::vector<Index>& planes) {
  return {Pick(x.own(), planes), Pick(x.next(), planes)};
}

BoolShare WithPlanes(const BoolShare& x, const std::vector<Index>& planes, const BoolShare& values) {
  Require(static_cast<Index>(planes.size()) == values.planes() && x.count() == values.count(),
          "WithPlanes: shapes differ");
  BitMatrix own = x.own();
  BitMatrix next = x.next();
  Put(own, planes, values.own());
  Put(next, planes, values.next());
  return {std::move(own), std::move(next)};
}

}  // namespace trefoil::mpc
