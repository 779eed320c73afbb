#pragma once
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "dp/record/record.h"
#include "ml/dpsgd/training.h"

namespace trefoil::runtime {

/// summary.json (docs/reference/formats.md): what a run promises and cost at a party, whatever its type.
struct Summary {
  std::string type;             ///< of the job
  std::string name;             ///< of the job
  std::string job_hash;         ///< empty in a file of version 1
  std::string session;          ///< its id; empty in a file of version 1
  double epsilon_outsider = 0;  ///< infinity where there is no guarantee
  double epsilon_insider = 0;
  double delta = 0;
  std::optional<dp::AccountantKind> accountant{};  ///< nothing where a file of version 1 does not say it
  std::vector<int> released_to{};                  ///< empty where a file of version 1 does not say it
  double seconds = 0;
  std::uint64_t rounds = 0;
  std::uint64_t bytes_sent = 0;  ///< of all ranks
  int ranks = 1;
  std::uint64_t peak_rss_bytes = 0;
  std::vector<std::string> warnings{};                                ///< what no epsilon covers
  nlohmann::ordered_json results = nlohmann::ordered_json::object();  ///< the type's own (jobs::JobResult)
};

/// What the owner of a party's data is told of it, where there is something.
inline constexpr const char* kOwnerWarnings = "owner_warnings.txt";
/// What hashes of data in the session log are salted with.
inline constexpr const char* kDataSalt = "data.salt";

/// Throws ConfigError unless `folder` is not there yet, is empty, or holds no more than what a start that
/// failed leaves (job.toml, party.log, audit.jsonl, data.salt, owner_warnings.txt, one of them half written
/// as *.part, and a folder checkpoint/ without a run).
void CheckRunDirectory(const std::filesystem::path& folder);

/// Makes a folder for a run's files. Throws as CheckRunDirectory.
void MakeRunDirectory(const std::filesystem::path& folder);

/// Whether a run is kept there that may go on.
[[nodiscard]] bool HoldsRun(const std::filesystem::path& folder);

/// Whether a run has written its results there. Its checkpoints may still be there, for peers that have none.
[[nodiscard]] bool HoldsResults(const std::filesystem::path& folder);

/// Whether a run has ended there, with its results, and no peer needs its checkpoints any more.
[[nodiscard]] bool HoldsFinishedRun(const std::filesystem::path& folder);

/// runs/NAME-UTC, as in runs/mnist-20250131T120000Z.
[[nodiscard]] std::filesystem::path DefaultRunDirectory(const std::string& name);

void WriteSummary(const std::filesystem::path& file, const Summary& summary);
/// Reads version 2, and version 1, in which each type of job had a shape of its own.
/// Throws ConfigError where the file cannot be read; DataError naming it where it is no summary.
[[nodiscard]] Summary ReadSummary(const std::filesystem::path& file);

void WriteRecord(const std::filesystem::path& file, const dp::TrainingRecord& record);
/// Throws ConfigError where the file cannot be read; DataError naming it, and the key, where it is no record.
[[nodiscard]] dp::TrainingRecord ReadRecord(const std::filesystem::path& file);

/// progress.csv, one line a step, readable while the training goes on. What an earlier session has written
/// stays until the first line is appended: its last line has the epsilon of steps that may be lost.
class ProgressFile {
 public:
  /// Begins the file, or, in a resumed run, goes on after the lines of the steps before `done`, whose own is
  /// written anew, with the epsilon of what was lost.
  explicit ProgressFile(const std::filesystem::path& file, int done = 0);
  /// Throws std::system_error if it cannot be written.
  void Append(const ml::StepReport& report);
  /// The last line of an earlier session that counts, of step `done` at most; zeros where there was none.
  [[nodiscard]] const ml::StepReport& kept() const { return kept_; }

 private:
  /// Puts what was written in the place of the file of before.
  void TakePlace();

  std::filesystem::path file_;
  std::filesystem::path draft_;  ///< empty once it has the file's place
  ml::StepReport kept_;
  std::ofstream stream_;
};

/// All steps of a finished run's progress.csv. Each report's `steps` is how many there are.
/// Throws DataError naming the file and the line where it is none.
[[nodiscard]] std::vector<ml::StepReport> ReadProgress(const std::filesystem::path& file);

/// The last whole line of a progress.csv, or nothing while there is none. `steps` goes into the report: the
/// file does not say it.
[[nodiscard]] std::optional<ml::StepReport> LastProgress(const std::filesystem::path& file, int steps);

}  // namespace trefoil::runtime
