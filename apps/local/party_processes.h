#pragma once
#include <array>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <string>

#include "runtime/observe/progress.h"

namespace trefoil::apps {

/// Three parties to be started as direct children of this process.
struct PartyProcesses {
  std::filesystem::path folder;        ///< with job.toml, and party-0 ... party-2 ready to run
  int steps = 0;                       ///< of the job, for the progress display
  std::chrono::milliseconds peer;      ///< after which a party notices that another one is gone
  std::size_t threads = 0;             ///< of each party; 0: a third of the cores
  int ranks = 1;                       ///< of each party, among which its threads are divided
  bool resume = false;                 ///< each goes on with the run in its out/
  bool again = false;                  ///< although it has lost many steps
  std::array<std::string, 3> pages{};  ///< HOST:PORT where each is watched; empty: as its party file says
};

/// DIR/party-0 to DIR/party-2.
[[nodiscard]] std::array<std::filesystem::path, 3> PartyFolders(const std::filesystem::path& folder);

/// Runs all three to their end (`trefoil run`, each into its folder's out/), showing their progress, and the
/// page of party 0 (by xdg-open) where it has one and there is a display. Returns
/// 0, or the exit code of the one that failed first, whose error has been reported then; a party that was
/// killed, or one of its ranks, counts as lost (3). Throws std::runtime_error if a process cannot be started,
/// ConfigError where there is no mpirun for several ranks.
int RunPartyProcesses(const PartyProcesses& parties, runtime::ProgressDisplay& display);

}  // namespace trefoil::apps
