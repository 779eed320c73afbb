#pragma once
#include <array>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "trefoil/job.h"
#include "trefoil/training.h"

namespace trefoil {

/// What a party brings to a job, by the keys that a party file has for it (docs/reference/formats.md): "data.x",
/// "data.y", "data.file", "pate.queries" and so on. Any path that can be opened and read twice is a file.
using InputFiles = std::map<std::string, std::filesystem::path>;

struct RunOptions {
  std::filesystem::path out{};  ///< the run directory; empty: runs/NAME-UTC
  std::size_t threads = 0;      ///< for computation; 0: as many as the machine has
  bool resume = false;          ///< goes on with the run that `out` holds, if it holds one
  bool again = false;           ///< with resume: although it has lost many steps
  InputFiles inputs{};          ///< in place of those that the party file names
};

/// One party's side of a job, as `trefoil run` does it: from its files over mutual TLS to its run directory, with
/// ledger, record, checkpoints, logs and metrics (docs/howto/operations.md). Blocks until the job has ended. Progress
/// goes to standard output, an error's one line to standard error, and SIGINT, SIGTERM and SIGHUP end the run in order:
/// it is meant to be the program's main business. Returns the exit code of `trefoil run`: 0 done, 2 configuration, 3
/// peer or network, 4 data, 5 privacy budget, 6 a condition of this machine that may pass, 128 + a signal, 1 anything
/// else. Throws ConfigError, in place of returning 2, for most of what is wrong with options, job file and party file.
[[nodiscard]] int RunParty(const std::filesystem::path& party_file, const std::filesystem::path& job_file,
                           const RunOptions& options = {});

/// A released model with what makes its rows of records.
struct ReleasedModel {
  Model model;
  std::string schema;  ///< canonical JSON: a job's keys on data, features and classes
};

/// The model.npz of a run directory. Throws ConfigError or DataError naming the file where it is no such model.
[[nodiscard]] ReleasedModel ReadModel(const std::filesystem::path& file);

/// The model's logits of each record, as Model::Logits has them; labels are not looked at. Throws DataError naming
/// file, row and column where the records are not as the schema declares them.
[[nodiscard]] std::vector<std::vector<double>> LogitsOf(const ReleasedModel& model,
                                                        const InputFiles& records);

/// How the model does on clear records with their labels or targets: the JSON of evaluation.json without the file's
/// hash (docs/reference/formats.md). No noise covers it: whoever gets it learns about these records. Throws DataError as LogitsOf, and where there are none.
[[nodiscard]] std::string EvaluationOf(const ReleasedModel& model, const InputFiles& records);

/// What a job gave a party.
struct JobResult {
  Epsilons epsilons{};                         ///< of what was executed, at the job's delta
  std::string record;                          ///< the same as record.json has it
  std::string summary;                         ///< a JSON object: what summary.json says of the type's own
  std::optional<ReleasedModel> model{};        ///< where one was released to it
  std::map<std::string, std::string> files{};  ///< what else was: contents by name
  std::vector<std::string> lines{};            ///< what the job says to its user
};

struct SimulationOptions {
  std::function<void(const StepReport&)> on_step{};  ///< of a job with steps, at party 0, in its thread
  std::stop_token stop{};                            ///< ends the job; Simulate throws StoppedError then
};

/// The job among three parties within this process (RunInProcess), each with files of its own: what each got. There is
/// no ledger, run directory or checkpoint, and nobody keeps a share: a job that releases its model to nobody is
/// refused. Throws ConfigError and DataError as a run, and what ends one.
[[nodiscard]] std::array<JobResult, 3> Simulate(const Job& job, const std::array<InputFiles, 3>& inputs,
                                                const SimulationOptions& options = {});

}  // namespace trefoil
