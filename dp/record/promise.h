#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trefoil::dp {

/// What an epsilon protects, all of it at once.
enum class PrivacyUnit {
  kRecord,       ///< a row of an owner's file
  kJointRecord,  ///< a row of a table of which every party has columns
  kGroup,        ///< all rows of one owner with the same key
  kTeacher,      ///< all data that one teacher was trained on
  kOwner,        ///< all records of one owner
};

/// By what neighbouring data sets differ: a unit that one of them lacks, or that is another one.
enum class Neighbours { kAdded, kReplaced };

/// Whom the epsilons of a record are for, and what they leave out: a number alone does not say.
struct Promise {
  PrivacyUnit unit = PrivacyUnit::kRecord;
  Neighbours neighbours = Neighbours::kAdded;
  std::vector<std::string> warnings{};  ///< what no epsilon covers though a user would think so, a line each
  /// Whether the records are those of owners who run no party, who are adversaries, too.
  bool deposited = false;
};

/// "record", "joint-record", "group", "teacher", "owner".
[[nodiscard]] const char* NameOf(PrivacyUnit unit);
/// "added" (or removed), "replaced".
[[nodiscard]] const char* NameOf(Neighbours neighbours);

/// The inverses; nothing for another name.
[[nodiscard]] std::optional<PrivacyUnit> UnitNamed(std::string_view name);
[[nodiscard]] std::optional<Neighbours> NeighboursNamed(std::string_view name);

}  // namespace trefoil::dp
