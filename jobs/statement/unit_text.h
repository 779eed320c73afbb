#pragma once
#include <string>

#include "dp/record/record.h"

namespace trefoil::jobs {

/// What two neighbouring data sets of the record differ by, in sentences; that it is not stated, where the
/// record does not say.
[[nodiscard]] std::string NeighboursText(const dp::TrainingRecord& record);

/// What the record's epsilons protect, likewise.
[[nodiscard]] std::string UnitText(const dp::TrainingRecord& record);

/// Who makes up k units, as a sentence begins: "Somebody with k rows, at one owner or at several,".
[[nodiscard]] std::string SeveralUnits(const dp::TrainingRecord& record);

/// What neighbours differ by that differ by k units: "all k rows added or all k removed".
[[nodiscard]] std::string SeveralNeighbours(const dp::TrainingRecord& record);

/// "rows", "groups", "teachers", "owners"; "units" where the record does not say.
[[nodiscard]] std::string UnitsName(const dp::TrainingRecord& record);

/// "a record", "a group", "a teacher", "an owner"; "a unit" where the record does not say.
[[nodiscard]] std::string OneUnit(const dp::TrainingRecord& record);

/// The names that record.json has for both, or that they are not stated.
[[nodiscard]] std::string UnitName(const dp::TrainingRecord& record);
[[nodiscard]] std::string NeighboursName(const dp::TrainingRecord& record);

}  // namespace trefoil::jobs
