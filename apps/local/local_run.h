#pragma once
#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "jobs/job.h"
#include "runtime/observe/progress.h"

namespace trefoil::apps {

struct LocalOptions {
  std::string job;
  std::string data{};           ///< what the job is about: a folder, or a file of rows; empty: looked for
  std::string model{};          ///< the run directory with the shares of a model, where the job asks one
  std::string out{};            ///< empty: runs/NAME-UTC
  std::string feature_model{};  ///< ONNX model for every party; empty: none
  std::string ledger{};         ///< a folder with each party's ledger; empty: none are kept
  double epsilon_cap = 0;       ///< with a ledger
  std::vector<std::string> assignments{};
  bool prepare = false;
  bool resume = false;  ///< goes on with the run in `out`; `job` may be empty then
  bool again = false;   ///< with resume: although it has lost many steps (runtime/resume/lost_steps.h)
  bool watch = false;  ///< serves a page to watch each party by, and opens party 0's where there is a display
  std::string hosts = "127.0.0.1,127.0.0.1,127.0.0.1";  ///< with prepare only
  unsigned base_port = 0;                               ///< 0: free ports; with prepare 7700
  std::size_t threads = 0;                              ///< of each party; 0: a third of the cores
  int ranks = 1;  ///< processes of each party, which mpirun starts (docs/adr/0041)
  jobs::JobTypes types = jobs::ShippedTypes();
};

/// A job that has been read, for three parties on this machine.
struct LocalRun {
  const jobs::Job& job;
  std::function<std::string(const jobs::SplitTarget&)> split;  ///< deals its data, as Job::Split
  std::filesystem::path folder;                                ///< the run directory
  runtime::ProgressDisplay& display;
};

/// Makes the run directory with three deployments and, unless options.prepare, runs them and collects the
/// results (apps/local/local_results.h). Returns the first failing party's exit code.
/// Throws the errors of base/error.h for what fails before the parties start.
int RunThree(const LocalRun& run, const LocalOptions& options);

/// Reads a job, or what there is of its run, and does what the options ask for. Returns and throws as
/// RunThree.
int RunLocal(const LocalOptions& options);

}  // namespace trefoil::apps
