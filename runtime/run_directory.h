#pragma once
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "dp/record/record.h"
#include "ml/dpsgd/training.h"

namespace trefoil::runtime {

/// What summary.json says of an evaluation on shares.
struct EvaluationSummary {
  std::int64_t records = 0;
  std::optional<double> correct{};  ///< noise included; nothing where it was not opened to this party
  std::optional<double> sigma{};    ///< noise multiplier of the count; nothing: exact
  double epsilon_outsider = 0;      ///< for the test records, at the job's delta
  double epsilon_insider = 0;
  std::uint64_t rounds = 0;
  std::uint64_t bytes_sent = 0;
};

/// Correct ones over records, cut to 0 ... 1 where noise leads beyond; nothing where the count is not known.
[[nodiscard]] std::optional<double> Accuracy(const EvaluationSummary& evaluation);

/// The evaluation in a line for the user.
[[nodiscard]] std::string EvaluationLine(const EvaluationSummary& evaluation);

/// summary.json (docs/reference/formats.md). Infinite epsilons are written as null.
struct Summary {
  std::string job;  ///< its name
  std::int64_t steps = 0;
  double epsilon_outsider = 0;
  double epsilon_insider = 0;
  double delta = 0;
  double sigma = 0;
  double sensitivity = 0;
  std::optional<double> accuracy{};
  double seconds = 0;
  std::uint64_t rounds = 0;
  std::uint64_t bytes_sent = 0;
  std::uint64_t peak_rss_bytes = 0;
  std::optional<EvaluationSummary> evaluation{};  ///< written where there was one
  std::vector<std::string> warnings{};  ///< what no epsilon covers; written where there is something
};

/// Throws ConfigError unless `folder` is not there yet, is empty, or holds no more than what a start that
/// failed leaves (job.toml, party.log, audit.jsonl).
void CheckRunDirectory(const std::filesystem::path& folder);

/// Makes a folder for a run's files. Throws as CheckRunDirectory.
void MakeRunDirectory(const std::filesystem::path& folder);

/// Whether a run has its results there. Its checkpoints may be there still, for peers that lack theirs.
[[nodiscard]] bool HoldsResults(const std::filesystem::path& folder);

/// Whether a run has ended there, with its results, and no peer needs its checkpoints any more.
[[nodiscard]] bool HoldsFinishedRun(const std::filesystem::path& folder);

/// runs/NAME-UTC, as in runs/mnist-20250131T120000Z.
[[nodiscard]] std::filesystem::path DefaultRunDirectory(const std::string& name);

void WriteSummary(const std::filesystem::path& file, const Summary& summary);
/// Throws ConfigError where the file cannot be read; DataError naming it where it is no summary.
[[nodiscard]] Summary ReadSummary(const std::filesystem::path& file);

void WriteRecord(const std::filesystem::path& file, const dp::TrainingRecord& record);
/// Throws ConfigError where the file cannot be read; DataError naming it, and the key, where it is no record.
[[nodiscard]] dp::TrainingRecord ReadRecord(const std::filesystem::path& file);

/// progress.csv, one line a step, readable while the training goes on.
class ProgressFile {
 public:
  /// Begins it, or, of a resumed run, goes on behind the first `done` steps.
  explicit ProgressFile(const std::filesystem::path& file, int done = 0);
  /// Throws std::system_error if it cannot be written.
  void Append(const ml::StepReport& report);
  /// The last step's line that was there; zeros where there was none.
  [[nodiscard]] const ml::StepReport& kept() const { return kept_; }

 private:
  std::filesystem::path file_;
  ml::StepReport kept_;
  std::ofstream stream_;
};

/// All steps of a finished run's progress.csv; `steps` of each is their number.
/// Throws DataError naming the file and the line where it is none.
[[nodiscard]] std::vector<ml::StepReport> ReadProgress(const std::filesystem::path& file);

/// The last whole line of a progress.csv, or nothing while there is none. `steps` is not in the file.
[[nodiscard]] std::optional<ml::StepReport> LastProgress(const std::filesystem::path& file, int steps);

/// The greatest memory that this process has held so far.
[[nodiscard]] std::uint64_t PeakMemoryBytes();

}  // namespace trefoil::runtime
