#pragma once
#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "ml/dpsgd/checkpoint.h"
#include "ml/plan/execution_history.h"
#include "mpc/context.h"
#include "runtime/resume/checkpoint_file.h"

namespace trefoil::runtime {

/// What a party knows of the run that its run directory is of: public.
struct RunClaim {
  std::string run_id;                ///< empty: it knows of none
  std::vector<CheckpointName> held;  ///< checkpoints that it could go on from
  ml::SessionHistory sessions;       ///< that it took part in, or heard of
  bool released = false;             ///< it may have released what its last checkpoint holds
  bool again = false;                ///< it was told to go on although the run has lost much (--again)
  bool anew = false;                 ///< it was told to begin a run, and goes on with none (jobs of calls)
};

/// How all three go on.
struct AgreedRun {
  std::string run_id;  ///< empty: a new run begins, and takes its session's id
  std::optional<CheckpointName> from;
  ml::SessionHistory earlier;
  bool again = false;  ///< all three were told to
};

/// Steps that the earlier sessions executed and that are not in what the run goes on from: they are charged
/// all the same.
[[nodiscard]] std::int64_t LostSteps(const AgreedRun& agreed);

/// The claim as a text for the peers, and back. Reading throws ProtocolError naming party `peer` for a text
/// that is none.
[[nodiscard]] std::string ToText(const RunClaim& claim);
[[nodiscard]] RunClaim ReadClaim(const std::string& text, int peer, int steps);

/// What follows from three claims, the same whoever computes it: the run goes on from the last checkpoint
/// that all three hold, after all sessions that anyone knows of, each with as many steps as anyone says that
/// it began. `steps`: of the job. Throws ConfigError saying what `self` or a peer lacks where they are not of
/// one run, hold no checkpoint in common although there should be one, or would go on from another checkpoint
/// than the one behind the last step, whose model a party may have released.
[[nodiscard]] AgreedRun Agree(const std::array<RunClaim, 3>& claims, int self, int steps);

/// Exchanges claims and agrees. `steps`: of the job. Cost: 2 rounds. Throws: as Agree and ReadClaim;
/// NetworkError.
[[nodiscard]] AgreedRun AgreeOnRun(mpc::Context& party, const RunClaim& own, int steps);

/// Makes sure, before a checkpoint is gone on from, that the three parties' shares are of one state of the
/// training and under the same coins: a keyed hash of each component
/// (protocols/arithmetic/component_check.h). `joint_slots`: whether all three know which slot a row is in
/// (jobs::CheckpointShape). `run_folder`: this party's, for the error. Cost: that of
/// protocols::RequireSharesOfOne. Throws ConfigError at all three naming who holds another; NetworkError,
/// ProtocolError.
void RequireOneCheckpoint(mpc::Context& party, const ml::Checkpoint& checkpoint, const std::string& job_hash,
                          bool joint_slots, const std::filesystem::path& run_folder);

}  // namespace trefoil::runtime
