#pragma once
#include <filesystem>
#include <string>
#include <utility>

#include "jobs/files/sealed_file.h"
#include "jobs/job.h"
#include "ml/dpsgd/checkpoint.h"

namespace trefoil::runtime {

inline constexpr jobs::SealedKind kCheckpoint{
    .magic = "trefoil checkpoint 1\n", .purpose = "trefoil checkpoint", .what = "a checkpoint of a run"};

/// Which checkpoint of a run it is. The same steps done twice, in two sessions, give two sharings that do not
/// belong together.
struct CheckpointName {
  int step = 0;          ///< steps done
  std::string session;   ///< that did the last of them, lower-case hexadecimal
  bool counted = false;  ///< whether it has what the evaluation counted behind the last one, too

  /// By which later ones are known.
  [[nodiscard]] std::pair<int, bool> rank() const { return {step, counted}; }
  friend auto operator<=>(const CheckpointName&, const CheckpointName&) = default;
};

/// Of whom and of what a checkpoint is.
struct CheckpointOwner {
  int party = 0;
  std::string run_id;
  std::string job_hash;
};

/// Replaces the file by a sealed checkpoint, in one step; mode 0600. The header, in the clear but part of the
/// seal, has the owner and the name, which says that it is counted where the checkpoint has counts. Throws
/// std::runtime_error.
void SaveCheckpoint(const std::filesystem::path& file, const CheckpointOwner& owner,
                    const std::string& session, const ml::Checkpoint& checkpoint, const SecretKey& key);

/// A checkpoint as it was kept.
struct StoredCheckpoint {
  CheckpointName name;
  ml::Checkpoint checkpoint;
};

/// Reads a checkpoint of `owner` in a run of this job, which has checkpoints. Throws ConfigError if the file
/// cannot be read or others can read it; DataError naming the file if it is none, another party's, of another
/// run or job, was changed, sealed with another key, or does not fit the job.
[[nodiscard]] StoredCheckpoint LoadCheckpoint(const std::filesystem::path& file, const CheckpointOwner& owner,
                                              const jobs::Job& job, const SecretKey& key);

}  // namespace trefoil::runtime
