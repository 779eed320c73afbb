#pragma once
#include <cstddef>

#include "jobs/config/party_file.h"
#include "jobs/dpsgd/settings/settings.h"
#include "jobs/records/load_records.h"
#include "ml/dpsgd/training.h"
#include "ml/plan/step_plan.h"

namespace trefoil::jobs {

/// What a training cannot do without at one party, in bytes: its records, where they do not stay on disk, and
/// the shares that a step works on; of a party of `ranks` machines the first of them.
[[nodiscard]] double MinMemory(const DpsgdSettings& job, const ml::StepPlan& plan, std::size_t party,
                               int ranks = 1);

/// What a run directory comes to, in bytes: progress, model and, with checkpoints, two of them and a draft.
[[nodiscard]] double MinDisk(const ml::StepPlan& plan, bool checkpoints);

/// This party's records of [data], in groups where the job has them. Throws as LoadOwnRecords.
[[nodiscard]] ml::OwnRecords ReadOwn(const DpsgdSettings& job, const PartyFile& party, LoadOptions options);

}  // namespace trefoil::jobs
