#include "dp/record/strict_object.h"

#include <utility>

#include "base/error.h"

namespace trefoil::dp {
namespace {

using Json = nlohmann::json;

std::int64_t CountOf(const Json& json, const std::string& path) {
  if (!json.is_number_integer()) RefuseRecord(path, json.type_name(), "an integer");
  constexpr std::int64_t kLargest = std::int64_t{1} << 53;  // what every JSON reader keeps
  const bool in_range = json.is_number_unsigned() ? json.get<std::uint64_t>() <= std::uint64_t{kLargest}
                                                  : json.get<std::int64_t>() >= 0;
  if (!in_range) RefuseRecord(path, json.dump(), "an integer from 0 to 2^53");
  return json.get<std::int64_t>();
}

}  // namespace

void RefuseRecord(const std::string& key, const std::string& found, const std::string& expected) {
  throw DataError("training record: " + key + ": found " + found + ", expected " + expected);
}

StrictObject::StrictObject(const Json& json, std::string place, const std::vector<const char*>& keys)
    : json_(json), place_(std::move(place)) {
  if (!json.is_object()) RefuseRecord(place_.empty() ? "top level" : place_, json.type_name(), "an object");
  for (const char* key : keys) {
    if (!json.contains(key)) RefuseRecord(Path(key), "nothing", "this key");
  }
  for (const auto& [key, value] : json.items()) {
    bool known = false;
    for (const char* one : keys) known = known || key == one;
    if (!known) RefuseRecord(Path(key), "an unknown key", "none of that name");
  }
}

std::string StrictObject::Path(const std::string& key) const {
  return place_.empty() ? key : place_ + "." + key;
}

std::string StrictObject::Text(const char* key) const {
  if (!At(key).is_string()) RefuseRecord(Path(key), At(key).type_name(), "a string");
  return At(key).get<std::string>();
}

std::string StrictObject::Hex(const char* key) const {
  auto text = Text(key);
  if (text.empty() || text.find_first_not_of("0123456789abcdef") != std::string::npos) {
    RefuseRecord(Path(key), "another text", "lower-case hexadecimal digits");
  }
  return text;
}

std::int64_t StrictObject::Count(const char* key) const { return CountOf(At(key), Path(key)); }

std::array<std::int64_t, 3> StrictObject::Counts(const char* key) const {
  std::array<std::int64_t, 3> counts{};
  if (!At(key).is_array() || At(key).size() != counts.size()) {
    RefuseRecord(Path(key), At(key).is_array() ? "an array of another length" : At(key).type_name(),
                 "an array of 3");
  }
  for (std::size_t i = 0; i < counts.size(); ++i) {
    counts[i] = CountOf(At(key)[i], Path(key) + "[" + std::to_string(i) + "]");
  }
  return counts;
}

std::vector<std::int64_t> StrictObject::ListOfCounts(const char* key) const {
  if (!At(key).is_array()) RefuseRecord(Path(key), At(key).type_name(), "an array");
  std::vector<std::int64_t> counts;
  for (const Json& one : At(key))
    counts.push_back(CountOf(one, Path(key) + "[" + std::to_string(counts.size()) + "]"));
  return counts;
}

double StrictObject::Number(const char* key, double largest) const {
  if (!At(key).is_number()) RefuseRecord(Path(key), At(key).type_name(), "a number");
  const auto number = At(key).get<double>();
  if (!(number >= 0 && number <= largest)) {
    RefuseRecord(Path(key), At(key).dump(),
                 largest == 1 ? "a number from 0 to 1" : "a finite number not below 0");
  }
  return number;
}

bool StrictObject::Flag(const char* key) const {
  if (!At(key).is_boolean()) RefuseRecord(Path(key), At(key).type_name(), "true or false");
  return At(key).get<bool>();
}

}  // namespace trefoil::dp
