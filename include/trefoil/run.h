#pragma once
#include <cstddef>
#include <filesystem>

namespace trefoil {

struct RunOptions {
  std::filesystem::path out{};  ///< the run directory; empty: runs/NAME-UTC
  std::size_t threads = 0;      ///< for computation; 0: as many as the machine has
  bool resume = false;          ///< goes on with the run that `out` holds, if it holds one
  bool again = false;           ///< with resume: although it has lost many steps
};

/// One party's side of a job, as `trefoil run` does it: from its files over mutual TLS to its run directory, with
/// ledger, record, checkpoints, logs and metrics (docs/howto/operations.md). Blocks until the job has ended. Progress
/// goes to standard output, an error's one line to standard error, and SIGINT, SIGTERM and SIGHUP end the run in order:
/// it is meant to be the program's main business. Returns the exit code of `trefoil run`: 0 done, 2 configuration, 3
/// peer or network, 4 data, 5 privacy budget, 6 a condition of this machine that may pass, 128 + a signal, 1 anything
/// else. Throws ConfigError, in place of returning 2, for most of what is wrong with options, job file and party file.
[[nodiscard]] int RunParty(const std::filesystem::path& party_file, const std::filesystem::path& job_file,
                           const RunOptions& options = {});

}  // namespace trefoil
