#pragma once
#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "jobs/config/party_file.h"

namespace trefoil::apps {

struct LocalOptions {
  std::string job;
  std::string data;           ///< folder of the data; empty: looked for. Of a prediction, the file of rows
  std::string model;          ///< of a prediction: the run directory with the model's shares
  std::string out;            ///< empty: runs/NAME-UTC
  std::string feature_model;  ///< ONNX model for every party; empty: none
  std::string ledger;         ///< of a training: a folder with each party's ledger; empty: none are kept
  double epsilon_cap = 0;     ///< with a ledger
  std::vector<std::string> assignments;
  bool prepare = false;
  bool resume = false;  ///< goes on with the training in `out`; `job` may be empty then
  bool again = false;   ///< with resume: although it has lost many steps (runtime/resume/lost_steps.h)
  std::string hosts = "127.0.0.1,127.0.0.1,127.0.0.1";  ///< with prepare only
  unsigned base_port = 0;                               ///< 0: free ports; with prepare 7700
  std::size_t threads = 0;                              ///< of each party; 0: a third of the cores
};

/// Where the three parties are reached: by the options, else free ports of this machine.
[[nodiscard]] std::array<jobs::Address, 3> LocalAddresses(const LocalOptions& options);

/// Trains a job with three parties on this machine. Returns the first failing party's exit code.
/// Throws the errors of base/error.h for what fails before the parties start.
int RunLocal(const LocalOptions& options);

}  // namespace trefoil::apps
