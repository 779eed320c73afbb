#pragma once
#include <array>
#include <cstdint>
#include <memory>

#include "ml/batches/batch_source.h"
#include "ml/dpsgd/training.h"
#include "ml/plan/step_plan.h"
#include "mpc/ranks.h"

namespace trefoil::ml {

/// The slots of each owner's part of a batch that one of `ranks` machines works on: BatchLimits divided by
/// them, rounded up. All machines' together may be some more, which are padding.
[[nodiscard]] std::array<std::int64_t, 3> RankLimits(const TrainingSettings& settings, int ranks);

/// Where a rank's part of each batch comes from: slots belong to ranks, not rows. Rank 0 draws the party's
/// batch as one machine would (DrawBatch), places its rows uniformly over all ranks' slots (PlaceRows), and
/// hands each rank what is in its slots, padding like records; each encodes its own and inputs it on its
/// lane. Share() is called by all ranks at the same place, as it opens a channel, by which the thread that
/// deals ahead hands out. `own`, `coins`: rank 0's; others' are not used. `coins` is
/// RandomStream::FromSystem() but in tests. All but these outlive what is returned.
/// Pre: owner-poisson or full sampling of a horizontal partition.
[[nodiscard]] std::unique_ptr<BatchSource> MakeRankSource(int self, const StepPlan& plan,
                                                          const OwnRecords& own, mpc::Ranks& ranks,
                                                          RandomStream coins);

/// Bytes that rank 0 of `party` hands out of each batch, which are there at once: features and labels of the
/// other ranks' slots.
[[nodiscard]] double HandedOutBytes(const StepPlan& plan, int party, int ranks);

}  // namespace trefoil::ml
