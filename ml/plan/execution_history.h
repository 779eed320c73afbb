#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "dp/record/record.h"
#include "ml/plan/public_sampling.h"
#include "ml/plan/step_plan.h"

namespace trefoil::ml {

/// What one session of a run executed, at most: public, the same at all three parties.
struct SessionSteps {
  std::string id;           ///< lower-case hexadecimal
  bool from_start = false;  ///< it began before the first step, initialisation included; else at a checkpoint
  int first = 0;            ///< steps that were done when it began
  int begun = 0;            ///< steps of the run that it began, those before `first` included
  bool evaluated = false;   ///< whether it began the evaluation
};

/// A run's sessions, in their order.
using SessionHistory = std::vector<SessionSteps>;

/// What a run has executed in all its sessions, in the words of its record: steps that were lost and done
/// again count as often as they were begun, and so do initialisations and evaluations. With public sampling
/// and deposited batches steps that were done again by the same coins are events of their own: executed so
/// often on one batch. Deposited batches are the same in all sessions of a run, also in one that begins it
/// anew.
class ExecutionHistory {
 public:
  /// `initialisation`: what is executed before the first step, once. `earlier`: the sessions before this one,
  /// which begins at step `first`, or, `from_start`, before the first step. `participation`: in how many
  /// steps any one row is, at most, when this session has come to a step, of all that drew by its coins.
  ExecutionHistory(const StepPlan& plan, double sigma, std::vector<dp::RecordedEvent> initialisation,
                   const SessionHistory& earlier, bool from_start, int first,
                   std::function<std::int64_t(int step)> participation);

  /// All that was executed once this session has come to `step`; with `evaluation`, after that, too.
  [[nodiscard]] std::vector<dp::RecordedEvent> Events(int step, bool evaluation) const;
  /// What the earlier sessions executed.
  [[nodiscard]] std::vector<dp::RecordedEvent> EventsBefore() const;
  /// The first step that no earlier session did by the coins of this one: 0 where each session has its own.
  [[nodiscard]] int FirstFresh() const;

  /// Steps alone, and in how many of them any one row is, at most.
  [[nodiscard]] std::int64_t Steps(int step) const { return before_ + step - first_; }
  [[nodiscard]] std::int64_t Participation(int step) const { return other_coins_ + participation_(step); }

 private:
  /// Whether the coins of all steps are older than the run; whether a session may do a step again by the same
  /// coins.
  [[nodiscard]] bool DrawnBeforehand() const;
  [[nodiscard]] bool RepeatsBatches() const;
  [[nodiscard]] std::vector<dp::RecordedEvent> EventsOf(std::int64_t initialisations, int step,
                                                        std::int64_t evaluations) const;
  /// How many batches were executed once, twice, ... when this session has come to `step`.
  [[nodiscard]] std::map<std::int64_t, std::int64_t> BatchesByExecutions(int step) const;

  const StepPlan& plan_;
  double sigma_;
  std::vector<dp::RecordedEvent> initialisation_;
  std::vector<std::vector<StepRange>> by_coins_;  // of the earlier sessions, those of the same coins together
  bool from_start_;
  int first_;
  std::function<std::int64_t(int)> participation_;
  // Of the earlier sessions:
  std::int64_t initialisations_ = 0;
  std::int64_t before_ = 0;  // steps
  std::int64_t other_coins_ = 0;
  std::int64_t evaluations_ = 0;
};

/// The steps of those earlier sessions that drew by the coins of one that goes on from a checkpoint: all
/// since the last that began from the start.
[[nodiscard]] std::vector<StepRange> StepsByTheseCoins(const SessionHistory& earlier, bool from_start);

}  // namespace trefoil::ml
