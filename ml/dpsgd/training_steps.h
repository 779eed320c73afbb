#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "dp/record/record.h"
#include "ml/batches/batch_source.h"
#include "ml/dpsgd/dp_sgd.h"
#include "ml/dpsgd/training.h"
#include "ml/noise/noise_source.h"
#include "ml/plan/execution_history.h"
#include "ml/plan/step_journal.h"
#include "ml/plan/step_plan.h"
#include "ml/ranks/rank_steps.h"
#include "mpc/context.h"

namespace trefoil::ml {

/// After how many steps epsilon is computed anew: after each, but where that takes as long as several (PLD)
/// at twenty marks.
[[nodiscard]] int StepsPerEpsilon(const TrainingSettings& settings);

/// Counts what a session has executed and reports it.
class Progress {
 public:
  /// Of a session that begins at step `first`. All but numbers must outlive this.
  Progress(mpc::Context& party, const StepPlan& plan, double sigma, const ExecutionHistory& executed,
           int first, const std::function<void(const StepReport&)>& on_step);

  /// So many steps of the run are done, the last with that adaptive clip; `others`: what this party's other
  /// ranks have sent. Throws what on_step throws.
  void Report(int step, std::optional<ClipReport> clip = {}, const BytesSentTo& others = {});

 private:
  [[nodiscard]] int NextMark(int step) const;
  void CountTo(int step);
  void CountAll(int step);
  void Counted(int step);

  mpc::Context& party_;
  const StepPlan& plan_;
  double sigma_;
  const ExecutionHistory& executed_;
  const std::function<void(const StepReport&)>& on_step_;
  dp::RecordAccountant accountant_;
  dp::EpsilonPair epsilons_;
  int counted_to_ = 0;  ///< of the run's steps
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// What the steps of a session work with.
struct Steps {
  mpc::Context& party;
  const StepPlan& plan;
  BatchSource& source;
  NoiseSource& noise;
  double sigma;
  StepJournal& announcements;
  Progress& progress;
  const TrainingHooks& hooks;
  const std::vector<std::int64_t>& class_counts;
  RankSteps* shared = nullptr;  ///< where this is rank 0 of several
};

/// A checkpoint, where the job has them; `counts`: what the evaluation has counted.
void Keep(const Steps& run, const TrainingState& state, const std::optional<mpc::ArithShare>& counts = {});

/// From the steps that `state` has done to the last; those that ranks share, with them: ServeSteps() is the
/// others' part. Throws NetworkError, ProtocolError, and what a hook throws.
[[nodiscard]] TrainingState RunSteps(const Steps& run, TrainingState state);

}  // namespace trefoil::ml
