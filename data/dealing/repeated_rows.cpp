#include "data/dealing/repeated_rows.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <string_view>
#include <utility>

namespace trefoil::data {
namespace {

using Hashed = std::pair<std::size_t, std::size_t>;  // hash, row

/// How many of some rows of equal hash are the same as another of them that was counted before.
std::int64_t CountRepeated(const RowReader& read, std::size_t columns, const std::vector<int>& y,
                           std::span<const Hashed> rows) {
  std::vector<std::pair<int, std::vector<float>>> distinct;
  std::pair<int, std::vector<float>> row{0, std::vector<float>(columns)};
  std::int64_t repeated = 0;
  for (const auto& [hash, number] : rows) {
    read(number, row.second);
    row.first = y[number];
    const auto same = [&](const auto& other) {
      return other.first == row.first &&
             std::memcmp(other.second.data(), row.second.data(), columns * sizeof(float)) == 0;
    };
    if (std::any_of(distinct.begin(), distinct.end(), same)) {
      ++repeated;
    } else {
      distinct.push_back(row);
    }
  }
  return repeated;
}

}  // namespace

std::int64_t CountRepeatedRows(const RowReader& read, std::size_t columns, const std::vector<int>& y) {
  std::vector<Hashed> hashes(y.size());
  std::vector<float> row(columns);
  for (std::size_t k = 0; k < hashes.size(); ++k) {
    read(k, row);
    const std::string_view bytes(reinterpret_cast<const char*>(row.data()), columns * sizeof(float));
    hashes[k] = {std::hash<std::string_view>{}(bytes), k};
  }
  std::sort(hashes.begin(), hashes.end());
  std::int64_t repeated = 0;
  for (auto first = hashes.begin(); first != hashes.end();) {
    const auto last =
        std::find_if(first, hashes.end(), [&](const Hashed& other) { return other.first != first->first; });
    if (last - first > 1) repeated += CountRepeated(read, columns, y, {first, last});
    first = last;
  }
  return repeated;
}

}  // namespace trefoil::data
