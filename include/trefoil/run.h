#pragma once
#include <array>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "trefoil/job.h"
#include "trefoil/training.h"

namespace trefoil {

/// What a party brings to a job, by the keys that a party file has for it (docs/reference/formats.md):
/// "data.x", "data.y", "data.file", "pate.queries" and so on. Any path that can be opened and read twice is a
/// file.
using InputFiles = std::map<std::string, std::filesystem::path>;

/// One party's program in a session of noisy sums: it brings the vectors of a job of type "sum" call after
/// call, in place of files, and gets each call's sum before the next one begins, so that the next vectors may
/// depend on it. The library draws the coins, shortens each record's vector to norm_bound, rounds it and adds
/// up this party's own before anything leaves it; noise of all three parties is in what opens. All three
/// parties make the same calls; who brings files can be a peer.
///
/// What the epsilons rest on and nobody can check: a record's vector is a function of that record and of what
/// was opened before, and of no other record (docs/explanation/privacy.md, "Noisy sums"). How long Bring
/// takes tells the peers about how many records were taken. All calls are charged before the first sum opens,
/// and whether or not all are made. Members are called in the thread of RunParty or, in a simulation, in a
/// thread for each party. What they throw ends the session at all three.
class VectorProgram {
 public:
  /// Takes the numbers of whole vectors, one vector after the other; may be called again and again. Throws
  /// DataError.
  using Add = std::function<void(std::span<const double> numbers)>;

  virtual ~VectorProgram() = default;
  /// How many records this party has: no more than the job declares, and the same throughout.
  [[nodiscard]] virtual std::int64_t records() const = 0;
  /// Of each record the key of its group, where the job's unit of privacy is the group; else none.
  [[nodiscard]] virtual std::vector<std::int64_t> keys() const { return {}; }
  /// Before the first call, which is `begun` + 1: of a run that is resumed it is behind all calls that any
  /// party has begun. What a program has made of the sums is its own to keep. Those of the first `shared`
  /// calls have reached all three parties, and each has gone on to the next call with them; later ones may
  /// have reached some of them only.
  virtual void Begins(std::int64_t /*begun*/, std::int64_t /*shared*/) {}
  /// Gives `add` a vector for each of `rows`, in their order: the records that call `call` (1, 2, ...) takes,
  /// ascending from 0, which may be none. Where the owner sums by itself (sum.summed), one vector, their sum.
  /// Returns whether the session goes on: false, at all three in the same call, ends it in place of this
  /// call; at fewer, it ends the session at all three with a ProtocolError or NetworkError that names who
  /// ended it.
  [[nodiscard]] virtual bool Bring(std::int64_t call, std::span<const std::int64_t> rows, const Add& add) = 0;
  /// The sum of this call, with its noise; no numbers at a party that the job's release.to does not name.
  virtual void Opened(std::int64_t call, std::span<const double> sum) = 0;
};

struct RunOptions {
  std::filesystem::path out{};       ///< the run directory; empty: runs/NAME-UTC
  std::size_t threads = 0;           ///< for computation; 0: as many as the machine has
  bool resume = false;               ///< goes on with the run that `out` holds, if it holds one
  bool again = false;                ///< with resume: although it has lost many steps
  InputFiles inputs{};               ///< in place of those that the party file names
  VectorProgram* program = nullptr;  ///< brings the vectors of a job of type "sum"; outlives the run
};

/// One party's side of a job, as `trefoil run` does it: from its files over mutual TLS to its run directory,
/// with ledger, record, checkpoints, logs and metrics (docs/howto/operations.md). Blocks until the job has
/// ended. Progress goes to standard output, an error's one line to standard error, and SIGINT, SIGTERM and
/// SIGHUP end the run in order. From the call on the process leaves no core file, and ignores SIGPIPE and
/// SIGXFSZ unless it handles them, since a run goes on when nobody reads what it prints: it is meant to be
/// the program's main business. Returns the exit code of `trefoil run`: 0 done, 2 configuration, 3 peer or
/// network, 4 data, 5 privacy budget, 6 a condition of this machine that may pass, 128 + a signal, 1 anything
/// else. Throws ConfigError, in place of returning 2, for most of what is wrong with options, job file and
/// party file.
[[nodiscard]] int RunParty(const std::filesystem::path& party_file, const std::filesystem::path& job_file,
                           const RunOptions& options = {});

/// A released model with what makes its rows of records.
struct ReleasedModel {
  Model model;
  std::string schema;  ///< canonical JSON: a job's keys on data, features and classes
};

/// The model.npz of a run directory. Throws ConfigError or DataError naming the file where it is no such
/// model.
[[nodiscard]] ReleasedModel ReadModel(const std::filesystem::path& file);

/// The model's logits of each record, as Model::Logits has them; labels are not looked at. Throws DataError
/// naming file, row and column where the records are not as the schema declares them.
[[nodiscard]] std::vector<std::vector<double>> LogitsOf(const ReleasedModel& model,
                                                        const InputFiles& records);

/// How the model does on clear records with their labels or targets: the JSON of evaluation.json without the
/// file's hash (docs/reference/formats.md). No noise covers it: whoever gets it learns about these records.
/// Throws DataError as LogitsOf, and where there are none.
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
  std::array<VectorProgram*, 3> programs{};          ///< of each party, as in RunOptions
};

/// The job among three parties within this process (RunInProcess), each with files of its own: what each got.
/// There is no ledger, run directory or checkpoint, and nobody keeps a share: a job that releases its model
/// to nobody is refused. Throws ConfigError and DataError as a run, and what ends one.
[[nodiscard]] std::array<JobResult, 3> Simulate(const Job& job, const std::array<InputFiles, 3>& inputs,
                                                const SimulationOptions& options = {});

}  // namespace trefoil
