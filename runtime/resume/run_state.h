#pragma once
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/secrets/secure_memory.h"
#include "jobs/job.h"
#include "ml/dpsgd/training.h"
#include "runtime/resume/run_agreement.h"

namespace trefoil::runtime {

/// What a run of `job` counts: its steps, or the calls of its program.
[[nodiscard]] inline int StepsOrCalls(const jobs::Job& job) {
  return job.Calls() > 0 ? job.Calls() : job.Steps().count;
}

/// How many calls any of these sessions has begun.
[[nodiscard]] int CallsBegun(const ml::SessionHistory& sessions);

/// The party and the job of a run.
struct RunOwner {
  int party = 0;
  std::shared_ptr<const jobs::Job> job;  ///< with checkpoints, or of calls
  /// Of [data] (data/dataset/data_hash.h), compared when the run is resumed.
  std::string data_hash;
  jobs::JobTypes types = jobs::ShippedTypes();
};

/// What a party keeps of a run while it is under way, in the folder checkpoint/ of its run directory, so that
/// whatever instant the process or its machine dies at, the run can go on and no step is forgotten:
///   run.json       the run, its sessions, and how far each may have come: replaced before the steps
///                  that it announces are executed
///   step           how far this session has come, written at each step's beginning; it outlives the
///                  process, but not a crash of the machine, after which run.json counts
///   STEP-ID.sealed the last two checkpoints
/// Of a job of calls (jobs::Job::Calls) steps are calls, each of which run.json announces, and there are no
/// checkpoints. Not copyable or movable.
class RunState {
 public:
  /// Reads what is there, if anything, and changes nothing. Throws ConfigError for another job than the run's
  /// (naming the first key that differs), or a run that another process executes; DataError for another
  /// party's run, other data than its own, or a file that was changed or damaged. A damaged checkpoint is
  /// left aside instead, if a newer one is whole.
  RunState(const std::filesystem::path& run_folder, RunOwner owner, SecretKey key);
  ~RunState();
  RunState(const RunState&) = delete;
  RunState& operator=(const RunState&) = delete;

  /// What to tell the peers.
  [[nodiscard]] const RunClaim& claim() const { return claim_; }

  /// What is wrong with the checkpoints that were left aside, a text each.
  [[nodiscard]] const std::vector<std::string>& damaged() const { return damaged_; }

  /// Throws unless the run may go on from this checkpoint.
  using CheckpointCheck = std::function<void(const ml::Checkpoint&)>;

  /// Takes what was agreed on for the session that begins, and gives what it goes on from. `check` sees the
  /// checkpoint before anything on disk is changed. Throws as the constructor and as `check`;
  /// std::runtime_error where it cannot be written.
  [[nodiscard]] ml::Resumption Begin(const AgreedRun& agreed, const std::string& session,
                                     const CheckpointCheck& check = {});

  /// After Begin. The id of the run: that of its first session.
  [[nodiscard]] const std::string& run_id() const { return claim_.run_id; }
  /// After Begin. The session whose steps made the weights that are released: this one, or, where it goes on
  /// behind the last step, the one that wrote the checkpoint.
  [[nodiscard]] const std::string& releasing_session() const { return releasing_; }

  // All throw std::runtime_error where they cannot write.
  /// Before steps up to `steps`, that is the first so many of the run, are begun. On disk when it returns.
  void Announce(int steps);
  /// Step `step`, counted from 0, is about to begin.
  void BeginStep(int step);
  /// All three hold the last checkpoint, and its model is about to be released. On disk when it returns.
  void BeginRelease();
  /// The evaluation is about to begin. On disk when it returns.
  void BeginEvaluation();
  /// Keeps a checkpoint and the one before it. On disk when it returns.
  void Keep(const ml::Checkpoint& checkpoint);
  /// Removes all of it, when no party needs the run any more. The removal is on disk when it returns.
  void Discard();

 private:
  [[nodiscard]] std::filesystem::path FileOf(const CheckpointName& name) const;
  [[nodiscard]] CheckpointOwner Owner() const;
  [[nodiscard]] int steps() const { return StepsOrCalls(*owner_.job); }
  void ReadRun();
  void CountLastSession();
  void FindCheckpoints();
  void FindCheckpoint(const std::filesystem::path& file);
  void Lock();
  void DropAfter(const std::optional<CheckpointName>& last);
  void WriteRun() const;
  void WriteStep(int begun) const;
  void List();

  std::filesystem::path folder_;
  RunOwner owner_;
  SecretKey key_;
  std::string boot_;
  int version_;  ///< of run.json
  RunClaim claim_;
  std::vector<std::string> damaged_;
  ml::SessionSteps session_;  ///< under way; listed in the claim once it may execute anything
  std::string releasing_;
  bool listed_ = false;
  int steps_file_ = -1;  ///< locked while this lives
};

/// Removes checkpoint/ of a run directory, of a run that nobody goes on with: first run.json, without which
/// the rest belongs to no run. Does nothing where there is no such folder. On disk when it returns. Throws
/// std::runtime_error.
void RemoveCheckpoints(const std::filesystem::path& run_folder);

}  // namespace trefoil::runtime
