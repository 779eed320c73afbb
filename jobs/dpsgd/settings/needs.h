#pragma once
#include <cstddef>
#include <optional>

#include "jobs/config/party_file.h"
#include "jobs/dpsgd/settings/settings.h"
#include "jobs/records/load_records.h"
#include "ml/dpsgd/training.h"
#include "ml/plan/step_plan.h"
#include "protocols/cost_model.h"

namespace trefoil::jobs {

/// A step as memory is planned for it: in the job's form, or else in the one that a run takes on the link.
/// Where that is not known it is bulk, which is dealt less.
[[nodiscard]] ml::StepPlan StepInMemory(const ml::TrainingSettings& settings,
                                        const std::optional<protocols::Link>& link, int ranks = 1);

/// What a training takes at one party, in bytes: the program, its records, where they do not stay on disk,
/// shares of rows, and what a step is dealt and computes with; of a party of `ranks` machines the first of
/// them. What the allocator cannot use between matrices is not counted.
[[nodiscard]] double MinMemory(const DpsgdSettings& job, const ml::StepPlan& plan, std::size_t party,
                               int ranks = 1);

/// What a run directory comes to, in bytes: progress, model and, with checkpoints, two of them and a draft.
[[nodiscard]] double MinDisk(const ml::StepPlan& plan, bool checkpoints);

/// This party's records of [data], in groups where the job has them. Throws as LoadOwnRecords.
[[nodiscard]] ml::OwnRecords ReadOwn(const DpsgdSettings& job, const PartyFile& party, LoadOptions options);

}  // namespace trefoil::jobs
