#pragma once
#include <string>

#include "apps/evaluation.h"
#include "apps/party_file.h"
#include "ml/training.h"

namespace trefoil::apps {

/// Whether this party holds the job's test records, or its validation records.
[[nodiscard]] bool HoldsTest(const Job& job, int party);
[[nodiscard]] bool HoldsValidation(const Job& job, int party);

/// The records that this party holds for the job's evaluation and the choice of its first weights, read as
/// LoadRecords does and as many as the job declares; empty where it holds none. `party_file` names the party
/// file in errors. Throws ConfigError where the party file does not say where they are; DataError as
/// LoadRecords, and "FILE: found N records, expected the E of KEY".
[[nodiscard]] ml::HeldOutRecords LoadHeldOut(const Job& job, const PartyFile& party,
                                             const std::string& party_file, const LoadOptions& options);

}  // namespace trefoil::apps
