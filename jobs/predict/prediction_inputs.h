#pragma once
#include <cstddef>
#include <string>

#include "jobs/config/party_file.h"
#include "jobs/files/share_file.h"
#include "jobs/predict/settings.h"
#include "ml/dpsgd/training.h"

namespace trefoil::jobs {

/// The keys of the party file's [predict].
void PredictInputs(FieldVisitor& v, InputPaths& inputs);

/// This party's share of the model that the job asks. Throws ConfigError where `party_file` names none or it
/// is of another run; else as StorageKey and LoadShare.
[[nodiscard]] ShareFile LoadModelShare(const PartyFile& party, const PredictSettings& job,
                                       const std::string& party_file, JobTypes types);

/// The client's rows, with the features of the model's records; nothing at the others. Throws ConfigError
/// where `party_file` names none; DataError as LoadRecords.
[[nodiscard]] ml::OwnRecords LoadRowsToPredict(const PredictSettings& job, const RecordSchema& schema,
                                               const PartyFile& party, const std::string& party_file,
                                               std::size_t threads);

}  // namespace trefoil::jobs
