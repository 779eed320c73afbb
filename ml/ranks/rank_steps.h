#pragma once
#include <array>
#include <cstdint>
#include <string>

#include "ml/dpsgd/dp_sgd.h"
#include "ml/noise/noise_source.h"
#include "ml/plan/step_plan.h"
#include "mpc/context.h"
#include "mpc/fixed_point.h"
#include "mpc/ranks.h"

namespace trefoil::ml {

/// What all ranks of a party have to know of the steps that they share.
struct SharedSteps {
  StepPlan plan;  ///< balanced weights of the classes included
  double sigma = 0;
  std::int64_t first = 0;             ///< steps that are done
  std::int64_t checkpoint_every = 0;  ///< steps; 0: no checkpoints
};

/// Rank 0 tells the others, once it comes to the steps.
void TellOfSteps(mpc::Ranks& ranks, const SharedSteps& steps);
/// What another rank is told, by the settings that it has. Throws ConfigError where it derives other
/// constants than rank 0: from another job, or in another build; NetworkError.
[[nodiscard]] SharedSteps HearOfSteps(mpc::Ranks& ranks, const TrainingSettings& settings);

/// `constants` of a lane, for the three parties to compare: with several ranks these say how many there are,
/// and which this one is.
[[nodiscard]] std::string LaneConstants(std::string constants, const mpc::Ranks& ranks);

/// Whether a checkpoint is due behind `step`, counted from 0, of `steps`: after every `every`, and after the
/// last.
[[nodiscard]] bool IsCheckpointDue(std::int64_t step, std::int64_t steps, std::int64_t every);

/// The part of all weights that each of `ranks` machines updates: as many at each, one column, in the order
/// of memory. What is more than there are weights is nothing of the model's.
[[nodiscard]] LayerShape SliceShape(const StepPlan& plan, int ranks);

/// Payload bytes of both phases to each peer.
using BytesSentTo = std::array<std::uint64_t, net::kParties>;

/// One rank's part of the steps of a party of many machines (docs/explanation/privacy.md, "A party of many
/// machines"): the errors, the clipping and the gradient sum of its own rows; of its slice of the weights the
/// sum of all ranks, with noise that it alone draws, and the update; then all slices for the next step. Every
/// rank makes the same calls in the same order.
class RankSteps {
 public:
  /// `state`: rank 0's, of which the others are told; theirs need nothing but the step. `noise`: of
  /// SliceShape. All but `state` outlive this. Throws NetworkError, as all that follows.
  RankSteps(const StepPlan& plan, NoiseSource& noise, mpc::Ranks& ranks, const TrainingState& state);

  /// Before each step, which no rank may begin before rank 0 has noted that it is done.
  void WaitForOthers() { ranks_.Barrier(); }
  /// A step on this rank's rows, in its run on this rank's lane. Cost: GradientCost of these rows, then
  /// ApplyUpdateCost of the slice.
  void Step(mpc::Context& run, const Batch& rows);
  /// When this rank has failed: or a thread of its own that deals ahead would wait for other ranks' rows.
  void Abort() noexcept { ranks_.Abort(); }
  /// What the party's other ranks had sent since their sessions began when they ended the last step, added up;
  /// zeros before the first.
  [[nodiscard]] const BytesSentTo& sent_by_others() const { return sent_by_others_; }
  /// At rank 0 where the training is; elsewhere without a velocity.
  [[nodiscard]] TrainingState Gathered();

 private:
  const StepPlan& plan_;
  NoiseSource& noise_;
  mpc::Ranks& ranks_;
  mpc::FixedShare weights_;  ///< all
  TrainingState slice_;      ///< this rank's
  BytesSentTo sent_by_others_{};
};

/// What one step costs on each lane of parties of `ranks` machines; with owner-poisson sampling with its
/// input, which is sent ahead (offline).
[[nodiscard]] mpc::Cost RankStepCost(const StepPlan& plan, int ranks);

/// Rows of all owners that are worked on together on one lane of parties of `ranks` machines; of one machine
/// a block.
[[nodiscard]] std::int64_t RowsAtOnce(const StepPlan& plan, int ranks);

}  // namespace trefoil::ml
