#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "ml/checkpoint.h"
#include "ml/executed.h"
#include "ml/training.h"
#include "mpc/context.h"
#include "protocols/input.h"

namespace trefoil::ml {

/// The shapes of what the owners input where each inputs `heights` rows.
[[nodiscard]] std::array<protocols::Shape, 3> RecordShapes(const StepPlan& plan,
                                                           const std::array<std::int64_t, 3>& heights);

/// Where a step's batch comes from.
class BatchSource {
 public:
  BatchSource() = default;
  virtual ~BatchSource() = default;
  BatchSource(const BatchSource&) = delete;
  BatchSource& operator=(const BatchSource&) = delete;

  /// Inputs what all steps take from; once, before the first of them.
  virtual void Share(mpc::Context& party) = 0;
  /// The batch of step 0, 1, ..., within that step's run of the program: each step's once.
  virtual Batch Next(mpc::Context& run, int step) = 0;
  /// Rows of a step's batch, padding included.
  [[nodiscard]] virtual std::int64_t HeightOf(int step) const = 0;

  /// In how many of the first `steps` steps any one row is, at most; 0 with owner-poisson sampling.
  [[nodiscard]] virtual std::int64_t MaxParticipation(int steps) const = 0;
  /// In how many any one row is once steps `first` ... step - 1 and the `earlier` ones have been executed, at
  /// most. What is returned must not outlive this.
  [[nodiscard]] virtual std::function<std::int64_t(int step)> Participation(
      const std::vector<StepRange>& earlier, int first) const = 0;
  /// What a checkpoint has to keep of it.
  [[nodiscard]] virtual std::optional<PublicCoins> Coins() const = 0;
};

/// With owner-poisson sampling every owner draws its own rows by private coins and inputs them afresh, padded
/// to a public height. With public sampling all rows are shared once, and common coins choose among them
/// (those of `coins`, where a run is resumed), padded to one of a few heights. `plan` and `own` must outlive
/// what is returned. Cost: with public sampling and no coins protocols::JointSeedCost, twice with a vertical
/// partition.
[[nodiscard]] std::unique_ptr<BatchSource> MakeBatchSource(mpc::Context& party, const StepPlan& plan,
                                                           const OwnRecords& own,
                                                           const std::optional<PublicCoins>& coins);

}  // namespace trefoil::ml
