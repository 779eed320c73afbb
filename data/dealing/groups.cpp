#include "data/dealing/groups.h"

#include <unordered_map>

#include "data/formats/file.h"

namespace trefoil::data {
namespace {

template <typename Key>
std::vector<std::int64_t> NumbersOf(const std::vector<Key>& keys, std::int64_t most,
                                    const std::filesystem::path& path) {
  std::unordered_map<Key, std::int64_t> number_of;
  std::vector<std::int64_t> sizes;
  std::vector<std::int64_t> numbers;
  // Each key may be of its own group. What grows by itself takes up to a fifth more, at some numbers of keys.
  number_of.reserve(keys.size());
  sizes.reserve(keys.size());
  numbers.reserve(keys.size());
  for (const auto& key : keys) {
    const auto [found, is_new] = number_of.emplace(key, static_cast<std::int64_t>(sizes.size()));
    if (is_new) sizes.push_back(0);
    numbers.push_back(found->second);
    if (++sizes[static_cast<std::size_t>(found->second)] > most) {
      ThrowDataError(path, "record " + std::to_string(numbers.size()),
                     "row " + std::to_string(most + 1) + " of one group",
                     "at most " + std::to_string(most) + " (privacy.max_group_rows)");
    }
  }
  return numbers;
}

}  // namespace

std::vector<std::int64_t> GroupNumbers(const std::vector<std::string>& keys, std::int64_t most,
                                       const std::filesystem::path& path) {
  return NumbersOf(keys, most, path);
}

std::vector<std::int64_t> GroupNumbers(const std::vector<std::int64_t>& keys, std::int64_t most,
                                       const std::filesystem::path& path) {
  return NumbersOf(keys, most, path);
}

}  // namespace trefoil::data
