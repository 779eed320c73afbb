#include "dp/record/promise.h"

#include <algorithm>
#include <array>
#include <utility>

namespace trefoil::dp {
namespace {

constexpr std::array<std::pair<PrivacyUnit, const char*>, 5> kUnits{
    {{PrivacyUnit::kRecord, "record"},
     {PrivacyUnit::kJointRecord, "joint-record"},
     {PrivacyUnit::kGroup, "group"},
     {PrivacyUnit::kTeacher, "teacher"},
     {PrivacyUnit::kOwner, "owner"}}};
constexpr std::array<std::pair<Neighbours, const char*>, 2> kNeighbourNames{
    {{Neighbours::kAdded, "added"}, {Neighbours::kReplaced, "replaced"}}};

template <typename Table, typename Value>
const char* NameIn(const Table& table, Value value) {
  return std::find_if(table.begin(), table.end(), [&](const auto& one) { return one.first == value; })
      ->second;
}

template <typename Value, std::size_t kSize>
std::optional<Value> ValueIn(const std::array<std::pair<Value, const char*>, kSize>& table,
                             std::string_view name) {
  for (const auto& [value, its_name] : table) {
    if (name == its_name) return value;
  }
  return {};
}

}  // namespace

const char* NameOf(PrivacyUnit unit) { return NameIn(kUnits, unit); }

const char* NameOf(Neighbours neighbours) { return NameIn(kNeighbourNames, neighbours); }

std::optional<PrivacyUnit> UnitNamed(std::string_view name) { return ValueIn(kUnits, name); }

std::optional<Neighbours> NeighboursNamed(std::string_view name) { return ValueIn(kNeighbourNames, name); }

}  // namespace trefoil::dp
