#pragma once
#include <vector>

#include "dp/record/record.h"
#include "jobs/statement/bound_text.h"
#include "jobs/statement/privacy_statement.h"

namespace trefoil::jobs {

/// The insider's with a vertical partition, whose parties know which records there are: it is for values in a
/// known record, and the outsider's for whether a record takes part. Otherwise the outsider's.
[[nodiscard]] FirstEpsilon FirstOf(const dp::TrainingRecord& record);

/// With a vertical partition: puts the insider's epsilon, for values in a known record, before the
/// outsider's, and after both the insider's for whether a record takes part. Leaves other statements as they
/// are. Pre: the first entries are epsilon_outsider and epsilon_insider.
void PutValuesFirst(std::vector<StatementEntry>& statement, const StatementSource& source);

}  // namespace trefoil::jobs
