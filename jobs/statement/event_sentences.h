#pragma once
#include <vector>

#include "jobs/statement/privacy_statement.h"

namespace trefoil::jobs {

/// Adds to a statement how each event of the record was protected: its noise, its sampling, what was cut.
/// (Noisy evaluations concern test records, which have an entry of their own.)
void AddEvents(std::vector<StatementEntry>& statement, const dp::TrainingRecord& record,
               dp::AccountantKind accountant);

}  // namespace trefoil::jobs
