#include "data/repeated_rows.h"

#include <functional>
#include <string_view>
#include <unordered_set>

#include "base/error.h"

namespace trefoil::data {

std::int64_t CountRepeatedRows(const Matrix& x, const std::vector<int>& y) {
  Require(y.size() == static_cast<std::size_t>(x.rows()), "CountRepeatedRows: a label a row");
  const auto bytes_of = [&](Eigen::Index row) {
    return std::string_view(reinterpret_cast<const char*>(x.data() + row * x.cols()),
                            static_cast<std::size_t>(x.cols()) * sizeof(float));
  };
  const auto hash = [&](Eigen::Index row) { return std::hash<std::string_view>{}(bytes_of(row)); };
  const auto same = [&](Eigen::Index a, Eigen::Index b) {
    return y[static_cast<std::size_t>(a)] == y[static_cast<std::size_t>(b)] && bytes_of(a) == bytes_of(b);
  };
  std::unordered_set<Eigen::Index, decltype(hash), decltype(same)> seen(y.size(), hash, same);
  std::int64_t repeated = 0;
  for (Eigen::Index row = 0; row < x.rows(); ++row) repeated += seen.insert(row).second ? 0 : 1;
  return repeated;
}

}  // namespace trefoil::data
