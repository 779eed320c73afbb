#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/secrets/random.h"
#include "ml/dpsgd/checkpoint.h"
#include "ml/dpsgd/training.h"
#include "mpc/context.h"
#include "protocols/arithmetic/input.h"

namespace trefoil::ml {

/// The shapes of what the owners input where each inputs `heights` rows.
[[nodiscard]] std::array<protocols::Shape, 3> RecordShapes(const StepPlan& plan,
                                                           const std::array<std::int64_t, 3>& heights);

/// How these travel where owners have whole rows of their own: x modulo 2^row_bits, the others in words.
[[nodiscard]] mpc::NarrowColumns NarrowRows(const StepPlan& plan);

/// This party's rows of one batch, by private coins: with owner-poisson sampling those of DrawRows or
/// DrawGroups, at most its BatchLimits; with full batches all.
[[nodiscard]] std::vector<std::int64_t> DrawBatch(RandomStream& coins, const StepPlan& plan,
                                                  const OwnRecords& own, int self);

/// Where a step's batch comes from.
class BatchSource {
 public:
  BatchSource() = default;
  virtual ~BatchSource() = default;
  BatchSource(const BatchSource&) = delete;
  BatchSource& operator=(const BatchSource&) = delete;

  /// Inputs what all steps take from; once, before the first of them.
  virtual void Share(mpc::Context& party) = 0;
  /// The batch of step 0, 1, ..., within that step's run of the program, or each of its blocks in order: each
  /// once. To be let go before the run ends, since what is made for later ones then takes its place.
  [[nodiscard]] virtual std::shared_ptr<const Batch> Next(mpc::Context& run, int step, int block) = 0;
  /// What a checkpoint has to keep of it.
  [[nodiscard]] virtual std::optional<PublicCoins> Coins() const = 0;
};

/// This party's own rows of one batch after the other.
class OwnBatches {
 public:
  OwnBatches() = default;
  virtual ~OwnBatches() = default;
  OwnBatches(const OwnBatches&) = delete;
  OwnBatches& operator=(const OwnBatches&) = delete;

  /// Once, before the first of them.
  virtual void Open() {}
  /// Draws the next batch. This and what follows: by the thread that deals ahead where owners input each
  /// batch afresh.
  virtual void Next() = 0;
  /// Slots [first, first + count) of it, encoded; each once, in their order.
  [[nodiscard]] virtual mpc::RingMatrix Rows(mpc::Index first, mpc::Index count) = 0;
};

/// Owner-poisson or full sampling of a horizontal partition, with slots as of `heights` and what `own` puts
/// into them: each batch is input afresh, or with full sampling the first one, once for all steps. `plan`
/// outlives what is returned.
[[nodiscard]] std::unique_ptr<BatchSource> MakeInputSource(const StepPlan& plan,
                                                           const std::array<std::int64_t, 3>& heights,
                                                           std::unique_ptr<OwnBatches> own);

/// With owner-poisson sampling every owner draws its own rows by private coins and inputs them afresh, padded
/// to a public height. With public sampling all rows are shared once, and common coins choose among them
/// (those of `coins`, where a run is resumed), padded to a height that is a constant of the job. Full batches
/// are all rows, shared once, each in one slot for all steps; with settings.deposited those of `deposited`.
/// Deposited batches, and blocks of deposited rows, are those of `batch`. `plan`, `own` and `batch` must
/// outlive what is returned. Cost: with public sampling and no coins protocols::JointSeedCost, twice with a
/// vertical partition.
[[nodiscard]] std::unique_ptr<BatchSource> MakeBatchSource(mpc::Context& party, const StepPlan& plan,
                                                           const OwnRecords& own,
                                                           const std::optional<PublicCoins>& coins,
                                                           std::vector<mpc::ArithShare> deposited,
                                                           const DepositedBatch& batch);

}  // namespace trefoil::ml
