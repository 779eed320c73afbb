#pragma once
#include <string>

#include "jobs/config/party_file.h"
#include "jobs/dpsgd/settings/settings.h"
#include "jobs/records/load_records.h"
#include "ml/dpsgd/training.h"

namespace trefoil::jobs {

/// Whether this party holds the job's test records, or its validation records.
[[nodiscard]] bool HoldsTest(const DpsgdSettings& job, int party);
[[nodiscard]] bool HoldsValidation(const DpsgdSettings& job, int party);

/// The records that this party holds for the job's evaluation and the choice of its first weights, read as
/// LoadRecords does and as many as the job declares; empty where it holds none. `party_file` names the party
/// file in errors. Throws ConfigError where the party file does not say where they are; DataError as
/// LoadRecords, "FILE: found N records, expected the E of KEY", and where two of what is trained on, tested
/// on and chosen by are one data set, by data::DataHash.
[[nodiscard]] ml::HeldOutRecords LoadHeldOut(const DpsgdSettings& job, const PartyFile& party,
                                             const std::string& party_file, const LoadOptions& options);

}  // namespace trefoil::jobs
