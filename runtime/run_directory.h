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
  std::string type;  ///< of its job, as all below
  std::string name;
  std::string job_hash;  ///< as the session's id empty in a file of version 1
  std::string session;
  double epsilon_outsider = 0;  ///< infinity where there is no guarantee
  double epsilon_insider = 0;
  double delta = 0;
  std::optional<dp::AccountantKind>
      accountant{};  ///< nothing where a file of version 1 does not say, as below
  std::vector<int> released_to{};
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

/// Throws ConfigError unless `folder` is not there yet, is empty, or holds no more than what a start that
/// failed leaves (job.toml, party.log, audit.jsonl, data.salt, owner_warnings.txt).
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
/// Of version 2, or of version 1, which trainings, predictions and other types wrote each in a shape of its own.
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
