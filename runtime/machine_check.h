#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "jobs/dpsgd/settings.h"
#include "ml/plan/step_plan.h"

namespace trefoil::runtime {

/// What a training cannot do without at one party, in bytes: its records, where they do not stay on disk, and
/// the shares that a step works on. A run takes more. Pre: the plan is of the job.
[[nodiscard]] double LeastMemory(const jobs::DpsgdSettings& job, const ml::StepPlan& plan, int party);

/// What a run directory comes to, in bytes: progress, model and, with checkpoints, two of them and a draft.
[[nodiscard]] double LeastDisk(const ml::StepPlan& plan, bool checkpoints);

/// The same with `results` bytes of files that grow with a job that is no training.
[[nodiscard]] double LeastDisk(double results);

/// What this process may still take: of the machine, of its control group, of its own limit (ulimit -v).
[[nodiscard]] double AvailableMemory();

/// Free on the file system of a folder. Throws ConfigError if it is not there.
[[nodiscard]] double AvailableDisk(const std::filesystem::path& folder);

/// Throws std::system_error (no space left) unless the file system of a run directory has room for what a
/// training's run comes to, less what earlier sessions' checkpoints take there already. Throws ConfigError as
/// AvailableDisk.
void RequireDisk(const std::filesystem::path& run_folder, const ml::StepPlan& plan, bool checkpoints);

/// The same for any `least` bytes. `before`: what is charged, and would be for nothing.
void RequireDisk(const std::filesystem::path& run_folder, double least, const std::string& before);

/// Swap space that is on and may keep what is written to it in the clear: neither a dm-crypt device nor a
/// compressed one in memory. A file counts, also one on an encrypted file system. `root`: where proc/swaps
/// and sys/block are.
[[nodiscard]] std::vector<std::string> PlainSwap(const std::filesystem::path& root = "/");

/// What an operator does about it, where the process may not lock its memory. Pre: areas is not empty.
[[nodiscard]] std::string SwapWarning(const std::vector<std::string>& areas);

}  // namespace trefoil::runtime
