#include "jobs/statement/unit_text.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <variant>

#include "base/error.h"

namespace trefoil::jobs {
namespace {

using dp::Neighbours;
using dp::PrivacyUnit;

constexpr const char* kNotStated = "not stated";

/// The rows of a group where steps took groups or sums were of groups, else 1: the job says it.
std::int64_t GroupRows(const dp::TrainingRecord& record) {
  std::int64_t most = 1;
  for (const auto& event : record.events) {
    if (const auto* steps = std::get_if<dp::DpSgdSteps>(&event))
      most = std::max(most, steps->limits.group_rows);
    if (const auto* releases = std::get_if<dp::GaussianReleases>(&event))
      most = std::max(most, releases->group_rows);
  }
  return most;
}

std::string GroupText(const dp::TrainingRecord& record) {
  const auto most = GroupRows(record);
  return fmt::format(
      "A group: all rows of one owner with the same key, of which a file has at most {}. Rows with that "
      "key at another owner are another group.",
      most > 1 ? fmt::format("{}", most) : "as many as the job says");
}

/// By what data sets differ, of which a row, or all rows of a key, may be missing.
std::string AddedText(PrivacyUnit unit) {
  const char* where = "by one unit added or removed at one owner";
  if (unit == PrivacyUnit::kJointRecord)
    where = "by one record that only one of them has, at all three parties";
  if (unit == PrivacyUnit::kTeacher) where = "by one teacher, with all its data, added or removed";
  if (unit == PrivacyUnit::kOwner) where = "by one owner, with all its records, added or removed";
  return fmt::format(
      "Data sets that differ {}. Nothing is published without noise that is computed from how many there are: "
      "rates, batch sizes and capacities are constants of the job.",
      where);
}

std::string ReplacedText(PrivacyUnit unit) {
  switch (unit) {
    case PrivacyUnit::kRecord:
      return "Data sets that differ by one record of one owner, replaced by another.";
    case PrivacyUnit::kJointRecord:
      return "Data sets that differ by one record, replaced by another at all three parties.";
    case PrivacyUnit::kGroup:
      return "Data sets that differ by one group of one owner, replaced by another.";
    case PrivacyUnit::kTeacher:
      return "Data sets of which one teacher's data, all of them, are others.";
    case PrivacyUnit::kOwner:
      return "Data sets of which one owner's records, all of them, are others.";
  }
  throw ContractError("ReplacedText: unknown unit");
}

}  // namespace

std::string NeighboursText(const dp::TrainingRecord& record) {
  if (!record.promise) return "Not stated by the record: by what neighbouring data sets differ.";
  const auto unit = record.promise->unit;
  return record.promise->neighbours == Neighbours::kAdded ? AddedText(unit) : ReplacedText(unit);
}

std::string UnitText(const dp::TrainingRecord& record) {
  if (!record.promise)
    return "Not stated by the record: whether a row, or all rows of a key, of a teacher or of an owner.";
  switch (record.promise->unit) {
    case PrivacyUnit::kRecord:
      return record.promise->neighbours == Neighbours::kAdded
                 ? "One record, a row of an owner's file."
                 : "One record, a row of an owner's file. How many an owner has is not protected.";
    case PrivacyUnit::kJointRecord:
      return "One record, a row of the table of which every party has columns.";
    case PrivacyUnit::kGroup:
      return GroupText(record);
    case PrivacyUnit::kTeacher:
      return "A teacher: all its data at once, and so any record that it alone was trained on.";
    case PrivacyUnit::kOwner:
      return "An owner: all its records at once, and so whatever its classifier says.";
  }
  throw ContractError("UnitText: unknown unit");
}

std::string SeveralUnits(const dp::TrainingRecord& record) {
  if (!record.promise) return "Whoever makes up k units of privacy";
  switch (record.promise->unit) {
    case PrivacyUnit::kRecord:
      return "Somebody with k rows, at one owner or at several,";
    case PrivacyUnit::kJointRecord:
      return "Somebody with k rows of the joint table";
    case PrivacyUnit::kGroup:
      return "Somebody with k groups, at one owner or at several,";
    case PrivacyUnit::kTeacher:
      return "Somebody in the data of k teachers";
    case PrivacyUnit::kOwner:
      return "Somebody in the records of k owners";
  }
  throw ContractError("SeveralUnits: unknown unit");
}

std::string SeveralNeighbours(const dp::TrainingRecord& record) {
  if (!record.promise) return "data sets that differ by k units; the record does not state in what way";
  const auto units = UnitsName(record);
  if (record.promise->neighbours == Neighbours::kAdded)
    return fmt::format("all k {} added or all k removed", units);
  const auto unit = record.promise->unit;
  const bool whole = unit == PrivacyUnit::kTeacher || unit == PrivacyUnit::kOwner;
  return fmt::format("{}all k {} replaced by others", whole ? "the data of " : "", units);
}

std::string UnitsName(const dp::TrainingRecord& record) {
  if (!record.promise) return "units";
  switch (record.promise->unit) {
    case PrivacyUnit::kRecord:
    case PrivacyUnit::kJointRecord:
      return "rows";
    case PrivacyUnit::kGroup:
      return "groups";
    case PrivacyUnit::kTeacher:
      return "teachers";
    case PrivacyUnit::kOwner:
      return "owners";
  }
  throw ContractError("UnitsName: unknown unit");
}

std::string OneUnit(const dp::TrainingRecord& record) {
  if (!record.promise) return "a unit";
  switch (record.promise->unit) {
    case PrivacyUnit::kRecord:
    case PrivacyUnit::kJointRecord:
      return "a record";
    case PrivacyUnit::kGroup:
      return "a group";
    case PrivacyUnit::kTeacher:
      return "a teacher";
    case PrivacyUnit::kOwner:
      return "an owner";
  }
  throw ContractError("OneUnit: unknown unit");
}

std::string UnitName(const dp::TrainingRecord& record) {
  return record.promise ? dp::NameOf(record.promise->unit) : kNotStated;
}

std::string NeighboursName(const dp::TrainingRecord& record) {
  return record.promise ? dp::NameOf(record.promise->neighbours) : kNotStated;
}

}  // namespace trefoil::jobs
