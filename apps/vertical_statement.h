#pragma once
#include <vector>

#include "apps/privacy_statement.h"

namespace trefoil::apps {

/// Of a vertical partition, whose parties know which records there are: puts the insider's epsilon, for values in
/// a known record, before the outsider's, and after it the one for whether a record takes part. Leaves other
/// statements as they are. Pre: the first entries are epsilon_outsider and epsilon_insider.
void PutValuesFirst(std::vector<StatementEntry>& statement, const StatementSource& source);

}  // namespace trefoil::apps
