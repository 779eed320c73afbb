#pragma once
#include <cstddef>
#include <filesystem>
#include <map>
#include <string>

#include "jobs/job.h"

namespace trefoil::runtime {

struct RunOptions {
  std::string config;
  std::string job;
  std::string out;          ///< empty: runs/NAME-UTC
  std::size_t threads = 0;  ///< 0: as many as the machine has
  bool resume = false;      ///< goes on with the run that `out` holds, if it holds one
  bool again = false;       ///< with resume: although it has lost many steps (runtime/resume/lost_steps.h)
  std::string metrics{};    ///< HOST:PORT, in place of the party file's metrics.listen; empty: as that says
  std::map<std::string, std::filesystem::path> inputs{};  ///< jobs::BringFiles
  VectorProgram* program = nullptr;                       ///< jobs::Job::TakeVectorsOf
  jobs::JobTypes types = jobs::ShippedTypes();
  jobs::StoreOpener open_store{};  ///< empty: the program has no store
  /// Takes processes that mpirun has started beside this one for this party's ranks
  /// (runtime/ranks/rank_group.h). The process ends then where the run fails at any of them.
  bool with_ranks = false;
};

/// One party's side of a job of any type, from its files to its run directory. Returns the exit code. What
/// fails is reported on stderr, and in party.log once there is a run directory; peers that are connected, or
/// wait in vain, are told. Most of what is wrong with options, job file and party file is thrown instead, as
/// ConfigError.
int RunJob(const RunOptions& options);

}  // namespace trefoil::runtime
