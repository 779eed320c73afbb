#include "mpc/simd/plane_builder.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "mpc/simd/bit_kernels.h"

namespace trefoil::mpc {
namespace {

BitMatrix Pick(const BitMatrix& x, const std::vector<Index>& planes) {
  BitMatrix out = BitMatrix::ToBeWritten(static_cast<Index>(planes.size()), x.count());
  for (std::size_t k = 0; k < planes.size(); ++k)
    out.words().row(static_cast<Index>(k)) = x.words().row(planes[k]);
  return out;
}

/// Calls put(words of x, words of values, how many) for each plane, of both components.
template <typename Put>
BoolShare Updated(BoolShare x, const std::vector<Index>& planes, const BoolShare& values, Index first,
                  Put put) {
  Require(first >= 0 && first + static_cast<Index>(planes.size()) <= values.planes() &&
              x.count() == values.count(),
          "WithPlanes: shapes differ");
  const auto update = [&](BitMatrix to, const BitMatrix& from) {
    for (std::size_t k = 0; k < planes.size(); ++k)
      put(to.plane(planes[k]), from.plane(first + static_cast<Index>(k)), to.words_per_plane());
    return to;
  };
  BitMatrix own = update(std::move(x).own(), values.own());
  // NOLINTNEXTLINE(bugprone-use-after-move): each takes its own component
  BitMatrix next = update(std::move(x).next(), values.next());
  return {std::move(own), std::move(next)};
}

}  // namespace

BoolShare PickPlanes(const BoolShare& x, const std::vector<Index>& planes) {
  return {Pick(x.own(), planes), Pick(x.next(), planes)};
}

BoolShare WithPlanes(BoolShare x, const std::vector<Index>& planes, const BoolShare& values, Index first) {
  return Updated(std::move(x), planes, values, first,
                 [](Word* to, const Word* from, Index words) { std::copy_n(from, words, to); });
}

BoolShare WithPlanesAdded(BoolShare x, const std::vector<Index>& planes, const BoolShare& values,
                          Index first) {
  return Updated(std::move(x), planes, values, first,
                 [](Word* to, const Word* from, Index words) { ExclusiveOr(to, from, words, to); });
}

}  // namespace trefoil::mpc
