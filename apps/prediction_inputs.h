#pragma once
#include <cstddef>
#include <string>

#include "apps/party_file.h"
#include "apps/predict_job.h"
#include "apps/share_file.h"
#include "ml/training.h"

namespace trefoil::apps {

/// This party's share of the model that the job asks. Throws ConfigError where `party_file` names none or it
/// is of another run; else as StorageKey and LoadShare.
[[nodiscard]] ShareFile LoadModelShare(const PartyFile& party, const PredictJob& job,
                                       const std::string& party_file);

/// The client's rows, with the features of the model's training; nothing at the others. Throws ConfigError
/// where `party_file` names none; DataError as LoadRecords.
[[nodiscard]] ml::OwnRecords LoadRowsToPredict(const PredictJob& job, const Job& training,
                                               const PartyFile& party, const std::string& party_file,
                                               std::size_t threads);

}  // namespace trefoil::apps
