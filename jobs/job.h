#pragma once
#include <array>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "dp/record/record.h"
#include "jobs/config/party_file.h"
#include "jobs/dpsgd/settings.h"
#include "jobs/job_cost.h"
#include "ml/dpsgd/training.h"
#include "mpc/context.h"
#include "mpc/fixed_point.h"

namespace trefoil::jobs {

/// A text file of a run's results.
struct ResultFile {
  std::string name;
  std::string text;
};

/// A model that a task made, with the schema of the records that it is for.
struct ReleasedModel {
  ml::Model model;
  DpsgdSettings schema;
};

/// This party's share of a model that a task made and nobody gets, with the schema of the records that it is
/// for: p + 1 weights of one logit, the bias last.
struct KeptShare {
  mpc::FixedShare weights;
  DpsgdSettings schema;
};

/// What a task gave this party.
struct JobResult {
  std::vector<ResultFile> files{};       ///< none where nothing was released to it
  std::optional<ReleasedModel> model{};  ///< model.npz, where one was released to it
  std::optional<KeptShare> share{};      ///< model.share, where one is released to nobody
  std::string summary;                   ///< a JSON object: what summary.json says beside what all tasks say
  std::vector<std::string> lines{};      ///< for the user
};

/// Where `local` finds and puts a task's data.
struct SplitTarget {
  std::filesystem::path job_file;
  std::filesystem::path data;                          ///< as the user named it; empty: looked for
  std::filesystem::path test;                          ///< where test records go, if there are any
  std::array<std::filesystem::path, 3> party_folders;  ///< made by the task, with data/ in each
  std::array<PartyFile, 3>& parties;  ///< whose [data] the task fills in, relative to the folders
};

/// A job that is neither a training nor a prediction: a secure computation whose noisy results are released.
/// All that `run`, `local`, `plan` and `check` know of a job type; the object serves one run.
class Job {
 public:
  /// Called with what will have been released, before the first value is opened. Throws where the record
  /// cannot be kept: then nothing is opened.
  using BeforeRelease = std::function<void(const std::vector<dp::RecordedEvent>& events)>;

  virtual ~Job() = default;

  [[nodiscard]] virtual const std::string& name() const = 0;
  /// At which both epsilons are said, in (0, 1).
  [[nodiscard]] virtual double delta() const = 0;
  /// By which both epsilons are computed.
  [[nodiscard]] virtual dp::AccountantKind accountant() const = 0;
  /// The parties that get the results, ascending; none where a model stays in shares.
  [[nodiscard]] virtual const std::vector<int>& release_to() const = 0;
  /// The job as compact JSON, keys sorted, all defaults filled in, without [local]: what the parties compare
  /// and hash.
  [[nodiscard]] virtual std::string Json() const = 0;
  /// [local] as a JSON object; without members where the type has none.
  [[nodiscard]] virtual std::string LocalJson() const = 0;
  /// What the job does, in a line.
  [[nodiscard]] virtual std::string Title() const = 0;
  /// The most that the job releases. Throws ConfigError for a privacy target that cannot be met.
  [[nodiscard]] virtual std::vector<dp::RecordedEvent> Events() const = 0;

  /// What the epsilons do not cover though a user would think so, one line each.
  [[nodiscard]] virtual std::vector<std::string> Warnings() const { return {}; }
  /// What the epsilons protect.
  [[nodiscard]] virtual dp::PrivacyUnit Unit() const { return dp::PrivacyUnit::kRecord; }
  /// By what neighbouring data sets differ.
  [[nodiscard]] virtual dp::Neighbours Neighbours() const { return dp::Neighbours::kAdded; }
  /// How many units of privacy there are at most (teachers, owners): who makes up more changes no more than all of
  /// them. Nothing where the job does not say.
  [[nodiscard]] virtual std::optional<std::int64_t> MostUnits() const { return {}; }
  /// As BudgetedJob::uncovered: why no ledger can take the job, or nothing.
  [[nodiscard]] virtual std::string Uncovered() const { return {}; }

  /// What Run() costs, from the job alone.
  [[nodiscard]] virtual JobCost Cost() const = 0;
  /// Of the records that the task's model is for, where it makes one that stays in shares.
  [[nodiscard]] virtual std::optional<DpsgdSettings> SharedSchema() const { return {}; }

  /// Deals the user's data to three party folders. Returns what to say of it. Throws DataError or
  /// ConfigError.
  virtual std::string Split(const SplitTarget& deal) const = 0;
  /// Reads and checks all that this party brings; `party_file` names its party file in errors. Returns what
  /// to say of it to its owner alone. Throws ConfigError or DataError.
  virtual std::string Load(const PartyFile& party, const std::string& party_file) = 0;
  /// The secure computation; after Load. Cost: Cost(). Throws NetworkError, ProtocolError, and what
  /// before_release throws.
  virtual JobResult Run(mpc::Context& party, const BeforeRelease& before_release) = 0;
};

/// Whether a job file's type is that of a task. Throws ConfigError as ReadToml.
[[nodiscard]] bool IsRegisteredJob(const std::filesystem::path& file);

/// The types of tasks, as a job's `type` names them.
[[nodiscard]] const std::vector<std::string>& RegisteredTypes();

/// Reads a task's job file, applies the `--set` assignments in order, and checks it whole; opens no data.
/// Throws ConfigError with one line: place, key, what was found, what was expected. Pre: IsRegisteredJob(file).
[[nodiscard]] std::unique_ptr<Job> ReadJob(const std::filesystem::path& file,
                                           const std::vector<std::string>& assignments = {});

/// SHA-256 of Json(), in lower-case hexadecimal.
[[nodiscard]] std::string HashOf(const Job& task);

/// The job as a TOML file with all defaults filled in, [local] included; ReadJob reads the same job back.
[[nodiscard]] std::string TomlOf(const Job& task);

/// Whom the job's epsilons are for, as its record says.
[[nodiscard]] dp::Promise PromiseOf(const Job& task);

/// Both epsilons of what the job releases at most, by its accountant.
[[nodiscard]] dp::EpsilonPair PlannedEpsilons(const Job& task);

}  // namespace trefoil::jobs
